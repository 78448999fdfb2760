package io.limiter.spring.boot;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.Yaml;

/** What IDEs show of the properties of this library: the metadata, and the classes of what lies below a name. */
public final class Metadata {
    private static final Path SOURCES = Path.of("src/main/java/io/limiter/spring/boot");
    private static final Pattern GETTER = Pattern.compile(
            "/\\*\\* (?<text>[^\n]*?) \\*/\\s+public abstract (?!CallerProperties)[\\w<>]+ get(?<name>\\w+)\\(\\)");

    /** One property. */
    public record Property(String name, @Nullable Object defaultValue, String description) {}

    private final Map<String, List<Map<String, Object>>> lists;

    private Metadata(Map<String, List<Map<String, Object>>> lists) {
        this.lists = lists;
    }

    public static Metadata read() throws IOException {
        return new Metadata(json("spring-configuration-metadata.json"));
    }

    /** Other libraries have files of these names; ours lie where our classes do. JSON is YAML. */
    private static Map<String, List<Map<String, Object>>> json(String name) throws IOException {
        String home = LimiterAutoConfiguration.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString();
        ClassLoader loader = LimiterAutoConfiguration.class.getClassLoader();
        for (URL file : Collections.list(loader.getResources("META-INF/" + name))) {
            if (file.toString().contains(home)) {
                try (InputStream json = file.openStream()) {
                    return new Yaml().load(json);
                }
            }
        }
        throw new IOException("no " + name + " in " + home);
    }

    /** The entries of groups, properties or hints. */
    public List<Map<String, Object>> list(String name) {
        return lists.get(name);
    }

    /** All properties by group, also those below the names of policies, plans and rules, and those of the actuator. */
    public Map<String, List<Property>> byGroup() throws IOException {
        Map<String, List<Property>> groups = new LinkedHashMap<>();
        for (Map<String, Object> entry : list("properties")) {
            Property property = property(entry);
            groups.computeIfAbsent(groupOf(property.name()), group -> new ArrayList<>())
                    .add(property);
        }
        List<Property> policy = below("limiter.policies.<name>", "PolicyProperties");
        List<Property> rule = below("limiter.rules.<name>", "RuleProperties");
        rule.addAll(below("limiter.rules.<name>.exempt", "CallerProperties"));
        rule.addAll(below("limiter.rules.<name>", "PolicyProperties"));
        groups.put("limiter.policies.<name>", policy);
        groups.put("limiter.plans.<name>", below("limiter.plans.<name>", "PlanProperties"));
        groups.put("limiter.rules.<name>", rule);
        List<Property> actuator = new ArrayList<>();
        for (Map<String, Object> entry :
                json("additional-spring-configuration-metadata.json").get("properties")) {
            actuator.add(property(entry));
        }
        groups.put("management", actuator);
        return groups;
    }

    /** What a group is about. */
    public String describe(String group) {
        return list("groups").stream()
                .filter(one -> group.equals(one.get("name")))
                .map(one -> String.valueOf(one.get("description")))
                .findFirst()
                .orElse(group.equals("management") ? "The endpoint and health, in Spring Boot." : "");
    }

    /** The longest group that a property lies in. */
    private String groupOf(String property) {
        String group = property;
        do {
            group = group.substring(0, group.lastIndexOf('.'));
        } while (describe(group).isEmpty());
        return group;
    }

    private Property property(Map<String, Object> entry) {
        String name = String.valueOf(entry.get("name"));
        List<String> choices = new ArrayList<>();
        for (Map<String, Object> hint : list("hints")) {
            if (name.equals(hint.get("name"))) {
                for (Object value : (List<?>) hint.getOrDefault("values", List.of())) {
                    choices.add("`" + ((Map<?, ?>) value).get("value") + "`");
                }
            }
        }
        String description = String.valueOf(entry.get("description"));
        return new Property(
                name,
                entry.get("defaultValue"),
                choices.isEmpty() ? description : description + " One of " + String.join(", ", choices) + ".");
    }

    private static List<Property> below(String name, String type) throws IOException {
        List<Property> properties = new ArrayList<>();
        GETTER.matcher(Files.readString(SOURCES.resolve(type + ".java")))
                .results()
                .forEach(found -> {
                    String property =
                            found.group(2).replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
                    String text = found.group(1).replaceAll("\\{@(?:code|link) ([^}]*)}", "`$1`");
                    properties.add(new Property(name + "." + property, null, text));
                });
        return properties;
    }
}
