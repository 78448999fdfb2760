package io.limiter.kit.door;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Heads of requests of HTTP/2: their fields, in order. */
final class Http2Heads {
    private static final List<String> PATHS_BY_SEGMENT = List.of(
            "/page", "/./page", "/%2e/page", "/x/../page", "/x/%2e%2e/page", "//page", "/page/", "//h/page", "/\\page");
    private static final List<String> PATHS_BY_CHARACTER = List.of(
            "/%70age", "/page;a=1", "/;a/page", "/..;/page", "/page%2f", "/page%00", "/PAGE", "/page\t", "/pag\u0001e");
    private static final List<String> TARGETS =
            List.of("/page?x", "/page#x", "page", "*", "", "http://h/page", "https://other/page", "/page /x", "?x");
    private static final List<String> AUTHORITIES =
            List.of("", "h:99999", "user@h", "h/page", "[::1", "h, other", " h");
    private static final List<String> PSEUDO_FIELDS =
            List.of(":authority: other", ":path: /", ":method: POST", ":status: 200", ":odd: 1");
    private static final List<String> ODD_FIELDS =
            List.of("host: other", "X-Key: 1", "x key: 1", "x-key: a\r\nx-key: b", "x-key: a\nb", "content-length: 5");
    private static final List<String> FIELDS_OF_HTTP_1 = List.of(
            "connection: close", "transfer-encoding: chunked", "upgrade: h2c", "te: gzip", "expect: 100-continue");

    private Http2Heads() {}

    static List<String> to(String path, String... others) {
        List<String> all =
                new ArrayList<>(List.of(":method: GET", ":scheme: https", ":authority: h", ":path: " + path));
        all.addAll(List.of(others));
        return all;
    }

    /** Heads that a client of good will never sends, and some that it may. */
    static List<List<String>> odd() {
        List<List<String>> all = new ArrayList<>();
        Stream.of(PATHS_BY_SEGMENT, PATHS_BY_CHARACTER, TARGETS)
                .flatMap(List::stream)
                .forEach(path -> all.add(to(path)));
        for (String authority : AUTHORITIES) {
            all.add(List.of(":method: GET", ":scheme: https", ":authority: " + authority, ":path: /page"));
        }
        Stream.of(PSEUDO_FIELDS, ODD_FIELDS, FIELDS_OF_HTTP_1)
                .flatMap(List::stream)
                .forEach(field -> all.add(to("/page", field)));
        all.add(List.of(":method: GET", ":scheme: https", ":path: /page"));
        all.add(List.of(":method: GET", ":scheme: https", ":path: /page", "host: h"));
        all.add(List.of(":method: GET", ":scheme: https", ":authority: h"));
        all.add(List.of(":scheme: https", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET", ":scheme: odd", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET /x", ":scheme: https", ":authority: h", ":path: /page"));
        all.add(List.of(":method: CONNECT", ":authority: h"));
        all.add(to("/page", "host: h", "host: other"));
        all.add(to("/", ":path: /page"));
        all.add(to("/page", "x-key: 1", ":path: /"));
        all.add(to("/page", "connection: x-key", "x-key: 1"));
        all.add(to("/page", "content-length: 5", "content-length: 6"));
        all.add(to("/page", "x-large: " + "a".repeat(7_000)));
        all.add(to("/page", "x-large: " + "a".repeat(100_000)));
        String[] many = IntStream.range(0, 3_000).mapToObj(i -> "x-key: " + i).toArray(String[]::new);
        all.add(to("/page", many));
        return all;
    }
}
