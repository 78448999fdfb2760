package io.limiter.tools;

import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes values as JSON. */
final class Json {
    private static final Pattern ESCAPED = Pattern.compile("[\"\\\\\\p{Cntrl}]");

    private Json() {}

    /** Of records, maps, collections, numbers, booleans; other values as text. */
    static String of(Object value) {
        if (value instanceof Record record) {
            return of(parts(record));
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(one -> of(one.getKey()) + ":" + of(one.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection<?> all) {
            return all.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof Number || value instanceof Boolean
                ? value.toString()
                : '"'
                        + ESCAPED.matcher(value.toString())
                                .replaceAll(odd -> String.format(
                                        "\\\\u%04x", (int) odd.group().charAt(0)))
                        + '"';
    }

    /** The components of a record, by name. */
    static Map<String, Object> parts(Record record) {
        Map<String, Object> parts = new LinkedHashMap<>();
        for (RecordComponent part : record.getClass().getRecordComponents()) {
            try {
                parts.put(part.getName(), part.getAccessor().invoke(record));
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return parts;
    }
}
