package io.limiter.http.internal.address;

import io.limiter.kit.Vectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Tables of test vectors, and requests made of text. */
final class Rows {
    private Rows() {}

    /** The rows of a file beside this class, cut into columns at bars. */
    static List<String[]> of(String resource) {
        return Vectors.rows(Rows.class, resource);
    }

    /** A resolver of words such as {@code net 10.0.0.0/8 Forwarded}. */
    static AddressResolver resolver(String trust) {
        String[] words = trust.split(" ", -1);
        ResolverBuilder builder = ResolverBuilder.builder();
        switch (words[0]) {
            case "none" -> {}
            case "net" -> builder.trustedProxies(words[1].split(","));
            case "hops" -> builder.trustedHops(Integer.parseInt(words[1]));
            case "all" -> builder.trustedEveryPeer();
            case "unix" -> builder.trustedUnixSocket();
            default -> throw new IllegalArgumentException(trust);
        }
        if (words.length > 2) {
            builder.header(words[2]);
        }
        return builder.build();
    }

    /** Headers of lines such as {@code Forwarded: for=1.1.1.1}; names have no case. */
    static Function<String, List<String>> headers(String... lines) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line : lines) {
            if (!line.equals("-")) {
                int colon = line.indexOf(':');
                headers.computeIfAbsent(line.substring(0, colon), name -> new ArrayList<>())
                        .add(line.substring(colon + 1));
            }
        }
        return name -> headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }
}
