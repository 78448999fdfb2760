package io.limiter.spring.boot;

import io.limiter.internal.config.ConfigKey;
import io.limiter.internal.config.ConfigKey.Type;
import io.limiter.kit.PropertyTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What IDEs show of the properties of this library, made of the table of properties. */
final class Metadata {
    static final Path FILE =
            Path.of("../limiter-spring/src/main/resources/META-INF/spring-configuration-metadata.json");

    private static final String TYPE = "java.util.Map<java.lang.String,io.limiter.spring.boot.%sProperties>";
    private static final Map<String, String> NAMED = Map.of(
            "limiter.policies.<name>", TYPE.formatted("Policy"),
            "limiter.plans.<name>", TYPE.formatted("Plan"),
            "limiter.rules.<name>", TYPE.formatted("Rule"));

    private Metadata() {}

    /** The text of the file. */
    static String text() {
        List<Map<String, Object>> groups = new ArrayList<>();
        List<Map<String, Object>> properties = new ArrayList<>();
        List<Map<String, Object>> hints = new ArrayList<>();
        PropertyTable.sections().forEach((section, about) -> {
            if (NAMED.containsKey(section)) {
                properties.add(entry(section.replace(".<name>", ""), "type", NAMED.get(section), "description", about));
            } else {
                groups.add(entry(section, "description", about));
            }
        });
        for (ConfigKey key : ConfigKey.all()) {
            if (!key.name().contains(ConfigKey.NAME)) {
                add(key, properties, hints);
            }
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("groups", groups);
        all.put("properties", properties);
        all.put("hints", hints);
        return json(all, "") + "\n";
    }

    private static void add(ConfigKey key, List<Map<String, Object>> properties, List<Map<String, Object>> hints) {
        properties.add(entry(key.name(), "type", type(key), "description", key.sentence(), "defaultValue", value(key)));
        if (!PropertyTable.choices(key).isEmpty()) {
            List<Object> values = new ArrayList<>();
            PropertyTable.choices(key)
                    .forEach((value, about) -> values.add(entry(null, "value", value, "description", about)));
            hints.add(entry(key.name(), "values", values));
        } else if (key.type() == Type.CLASS || key.type() == Type.FILE) {
            hints.add(entry(key.name(), "providers", List.of(provider(key.type()))));
        }
    }

    private static Map<String, Object> provider(Type type) {
        return type == Type.FILE
                ? entry("handle-as", "parameters", entry(null, "target", "org.springframework.core.io.Resource"))
                : entry(
                        "class-reference",
                        "parameters",
                        entry(null, "target", "io.limiter.servlet.rejection.RejectionHandler", "concrete", true));
    }

    private static Map<String, Object> entry(@Nullable String name, @Nullable Object... pairs) {
        Map<String, Object> entry = new LinkedHashMap<>();
        if (name != null) {
            entry.put("name", name);
        }
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i + 1] != null) {
                entry.put(String.valueOf(pairs[i]), pairs[i + 1]);
            }
        }
        return entry;
    }

    private static String type(ConfigKey key) {
        boolean isLong = !key.range().isEmpty() && key.range().get(1).matches("[0-9]{11,}");
        return switch (key.type()) {
            case BOOLEAN -> "java.lang.Boolean";
            case NUMBER, INTEGER -> isLong ? "java.lang.Long" : "java.lang.Integer";
            case DURATION -> "java.time.Duration";
            case LIST -> "java.util.List<java.lang.String>";
            default -> "java.lang.String";
        };
    }

    private static @Nullable Object value(ConfigKey key) {
        String usual = key.usual();
        return switch (key.type()) {
            case BOOLEAN -> usual == null ? null : Boolean.valueOf(usual);
            case NUMBER, INTEGER -> usual == null ? null : Long.valueOf(usual);
            default -> usual;
        };
    }

    /** As people write it. */
    private static String json(Object value, String indent) {
        String deeper = indent + "  ";
        List<String> parts = new ArrayList<>();
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, one) -> parts.add(deeper + "\"" + key + "\": " + json(one, deeper)));
            return "{\n" + String.join(",\n", parts) + "\n" + indent + "}";
        }
        if (value instanceof List<?> list) {
            list.forEach(one -> parts.add(deeper + json(one, deeper)));
            return "[\n" + String.join(",\n", parts) + "\n" + indent + "]";
        }
        return value instanceof String text
                ? "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
                : "" + value;
    }
}
