package io.limiter.kit.door;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Heads of requests of HTTP/2: their fields, in order. */
final class Http2Heads {
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
        for (String path : List.of(
                "/page",
                "/page?x",
                "/./page",
                "/%2e/page",
                "/x/../page",
                "/x/%2e%2e/page",
                "//page",
                "/%70age",
                "/page/",
                "/page;a=1",
                "/;a/page",
                "/..;/page",
                "/page%2f",
                "/page%00",
                "/PAGE",
                "/\\page",
                "/page#x",
                "page",
                "*",
                "",
                "http://h/page",
                "https://other/page",
                "//h/page",
                "/page /x",
                "/page\t",
                "?x",
                "/pag\u0001e")) {
            all.add(to(path));
        }
        for (String authority : List.of("", "h:99999", "user@h", "h/page", "[::1", "h, other", " h")) {
            all.add(List.of(":method: GET", ":scheme: https", ":authority: " + authority, ":path: /page"));
        }
        all.add(List.of(":method: GET", ":scheme: https", ":path: /page"));
        all.add(List.of(":method: GET", ":scheme: https", ":path: /page", "host: h"));
        all.add(List.of(":method: GET", ":scheme: https", ":authority: h"));
        all.add(List.of(":scheme: https", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET", ":scheme: odd", ":authority: h", ":path: /page"));
        all.add(List.of(":method: GET /x", ":scheme: https", ":authority: h", ":path: /page"));
        all.add(List.of(":method: CONNECT", ":authority: h"));
        all.add(to("/page", "host: other"));
        all.add(to("/page", "host: h", "host: other"));
        all.add(to("/page", ":authority: other"));
        all.add(to("/page", ":path: /"));
        all.add(to("/", ":path: /page"));
        all.add(to("/page", ":method: POST"));
        all.add(to("/page", ":status: 200"));
        all.add(to("/page", ":odd: 1"));
        all.add(to("/page", "x-key: 1", ":path: /"));
        all.add(to("/page", "X-Key: 1"));
        all.add(to("/page", "x key: 1"));
        all.add(to("/page", "x-key: a\r\nx-key: b"));
        all.add(to("/page", "x-key: a\nb"));
        all.add(to("/page", "connection: close"));
        all.add(to("/page", "connection: x-key", "x-key: 1"));
        all.add(to("/page", "transfer-encoding: chunked"));
        all.add(to("/page", "upgrade: h2c"));
        all.add(to("/page", "te: gzip"));
        all.add(to("/page", "content-length: 5"));
        all.add(to("/page", "content-length: 5", "content-length: 6"));
        all.add(to("/page", "expect: 100-continue"));
        all.add(to("/page", "x-large: " + "a".repeat(7_000)));
        all.add(to("/page", "x-large: " + "a".repeat(100_000)));
        String[] many = IntStream.range(0, 3_000).mapToObj(i -> "x-key: " + i).toArray(String[]::new);
        all.add(to("/page", many));
        return all;
    }
}
