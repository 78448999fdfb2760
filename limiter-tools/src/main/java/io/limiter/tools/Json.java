package io.limiter.tools;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes values as JSON. */
final class Json {
    private Json() {}

    /** Of maps, collections, numbers, booleans; other values as text. */
    static String of(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(one -> text(String.valueOf(one.getKey())) + ":" + of(one.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection<?> all) {
            return all.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
        }
        return value == null || value instanceof Number || value instanceof Boolean
                ? String.valueOf(value)
                : text(value.toString());
    }

    private static String text(String value) {
        StringBuilder written = new StringBuilder("\"");
        value.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                written.append('\\').append((char) c);
            } else if (c < ' ') {
                written.append(String.format("\\u%04x", c));
            } else {
                written.append((char) c);
            }
        });
        return written.append('"').toString();
    }
}
