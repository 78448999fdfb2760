package io.limiter.benchmark.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** Our scripts of an earlier date: resources next to this class. They never change. */
final class FrozenScripts {
    private static final String BEGIN = "-- [algorithm]\n";
    private static final String END = "-- [/algorithm]\n";

    private FrozenScripts() {}

    /** The script of that name. The one that decides several limits was assembled from the others. */
    static String text(String name) {
        if (!name.equals("batch")) {
            return resource("today/" + name + ".lua");
        }
        StringBuilder batch = new StringBuilder("local algorithms = {}\n");
        for (String[] algorithm : List.of(
                new String[] {"fixed_window", "fixed"},
                new String[] {"sliding_list", "sliding-list"},
                new String[] {"sliding_zset", "sliding-zset"},
                new String[] {"token_bucket", "token-bucket"})) {
            String text = text(algorithm[0]);
            batch.append("do\n")
                    .append(text, text.indexOf(BEGIN), text.indexOf(END))
                    .append("algorithms['")
                    .append(algorithm[1])
                    .append("'] = algorithm\nend\n");
        }
        return batch + resource("today/batch.lua");
    }

    /** A file next to this class. */
    static String resource(String file) {
        try (InputStream in = Objects.requireNonNull(FrozenScripts.class.getResourceAsStream(file), file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
