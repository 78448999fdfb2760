import io.limiter.internal.config.ConfigKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.tools.ToolProvider;

/**
 * Makes the types by which IDEs complete what lies below the name of a policy, plan or rule: Spring Boot's metadata can name a
 * type there, and no properties. They have no code and no user when an application runs, so they are made of the table of
 * properties when limiter-spring is built. Arguments: the directories of classes and of their sources.
 */
final class MetadataTypes {
    private static final Map<String, String> TYPES =
            Map.of("limiter.policies", "Policy", "limiter.plans", "Plan", "limiter.rules", "Rule");

    public static void main(String[] directories) throws Exception {
        Path sources = Path.of(directories[1], "io/limiter/spring/boot");
        Files.createDirectories(sources);
        List<String> command = new ArrayList<>(List.of("--release", "17", "-proc:none", "-d", directories[0]));
        Map<String, StringBuilder> bodies = new TreeMap<>();
        for (ConfigKey key : ConfigKey.all()) {
            String[] parts = key.name().split("\\.<name>\\.");
            if (parts.length == 2) {
                String[] names = parts[1].split("\\.");
                String body = property(names[names.length - 1], type(key), key.sentence());
                String owner = TYPES.get(parts[0]);
                if (names.length > 1) {
                    bodies.computeIfAbsent("Caller", n -> new StringBuilder()).append(body);
                    body = property(names[0], "CallerProperties", "Callers that the rule does not count.");
                }
                StringBuilder all = bodies.computeIfAbsent(owner, n -> new StringBuilder());
                if (all.indexOf(body) < 0) {
                    all.append(body);
                }
            }
        }
        for (Map.Entry<String, StringBuilder> type : bodies.entrySet()) {
            Path file = sources.resolve(type.getKey() + "Properties.java");
            Files.writeString(
                    file,
                    "package io.limiter.spring.boot;\n\n/** For IDEs only. */\nabstract class " + type.getKey()
                            + "Properties {\n" + type.getValue() + "}\n");
            command.add(file.toString());
        }
        if (ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(String[]::new)) != 0) {
            throw new IllegalStateException("the types for the metadata can't be compiled");
        }
    }

    private static String type(ConfigKey key) {
        return switch (key.type()) {
            case BOOLEAN -> "Boolean";
            case NUMBER, INTEGER -> "Long";
            case DURATION -> "java.time.Duration";
            case LIST -> "java.util.List<String>";
            default -> "String";
        };
    }

    private static String property(String name, String type, String sentence) {
        StringBuilder camel = new StringBuilder();
        for (String word : name.split("-")) {
            camel.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        }
        return "    /** " + sentence.replaceAll("`([^`]*)`", "{@code $1}").replace("*/", "*&#47;") + " */\n"
                + "    public abstract " + type + " get" + camel + "();\n\n"
                + "    public abstract void set" + camel + "(" + type + " value);\n\n";
    }
}
