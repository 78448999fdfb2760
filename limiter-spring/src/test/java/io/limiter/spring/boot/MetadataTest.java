package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.HttpSettings;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RedisSettings;
import java.beans.BeanInfo;
import java.beans.FeatureDescriptor;
import java.beans.IntrospectionException;
import java.beans.Introspector;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What IDEs complete is what the parser knows. */
class MetadataTest {
    private static final Set<String> WITHOUT_DEFAULT = Set.of(
            "limiter.policies",
            "limiter.rules",
            "limiter.exempt.addresses",
            "limiter.exempt.users",
            "limiter.exempt.roles",
            "limiter.deny.addresses",
            "limiter.plans",
            "limiter.jmx.name",
            "limiter.reload",
            "limiter.redis.address",
            "limiter.redis.master",
            "limiter.redis.config",
            "limiter.redis.username",
            "limiter.redis.password",
            "limiter.redis.key-secret",
            "limiter.redis.previous-key-secret",
            "limiter.client-ip.trusted-proxies",
            "limiter.client-ip.trusted-hops",
            "limiter.http.rejection-handler");

    /** What a value needs beside it, to be no contradiction. */
    private static final Map<String, Map<String, String>> NEEDS = Map.of(
            "limiter.http.x-ratelimit-reset", Map.of("limiter.http.headers", "x-ratelimit"),
            "limiter.client-ip.header", Map.of("limiter.client-ip.trusted-hops", "1"));

    private Metadata metadata;

    @BeforeEach
    void read() throws IOException {
        metadata = Metadata.read();
    }

    @Test
    void everyKeyIsThereAndNoOther() {
        Set<String> keys = LimiterConfig.keys().stream()
                .map(key -> key.replaceFirst("\\.<name>.*", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        keys.addAll(BootKeys.ALL);
        assertEquals(keys, new TreeSet<>(properties().keySet()));
    }

    @Test
    void everyKeyHasATypeAndASentence() throws ClassNotFoundException {
        for (Map<String, Object> property : metadata.list("properties")) {
            String description = String.valueOf(property.get("description"));
            assertTrue(description.matches("[^a-z].*\\.") || description.startsWith("redis://"), description);
            for (String type : String.valueOf(property.get("type")).split("[<>,]", -1)) {
                if (!type.isEmpty()) {
                    Class.forName(type);
                }
            }
        }
        Set<String> sections = metadata.list("groups").stream()
                .map(group -> String.valueOf(group.get("name")))
                .collect(Collectors.toSet());
        properties()
                .keySet()
                .forEach(key -> assertTrue(sections.contains(key.substring(0, key.lastIndexOf('.'))), key));
    }

    @Test
    void theDefaultsAreThose() {
        properties().forEach((key, property) -> {
            Object shown = property.get("defaultValue");
            assertEquals(WITHOUT_DEFAULT.contains(key), shown == null, key);
            if (shown != null && !BootKeys.ALL.contains(key)) {
                Map<String, String> needs = NEEDS.getOrDefault(key, Map.of());
                assertEquals(config(needs, Map.of()), config(needs, Map.of(key, String.valueOf(shown))), key);
            }
        });
        assertEquals(true, properties().get(BootKeys.ENABLED).get("defaultValue"));
        assertEquals(true, properties().get(BootKeys.FILTER_ENABLED).get("defaultValue"));
        assertEquals(
                LimiterServletAutoConfiguration.Filters.FIRST,
                properties().get(BootKeys.FILTER_ORDER).get("defaultValue"));
        assertEquals(
                LimiterServletAutoConfiguration.Filters.OF_SECURITY + 1,
                properties().get(BootKeys.USER_FILTER_ORDER).get("defaultValue"));
    }

    @Test
    void theChoicesAreThose() {
        Map<String, Class<? extends Enum<?>>> choices = Map.of(
                "limiter.backend", LimiterConfig.BackendKind.class,
                "limiter.redis.mode", RedisSettings.RedisMode.class,
                "limiter.http.headers", HttpSettings.Headers.class,
                "limiter.http.x-ratelimit-reset", HttpSettings.Reset.class,
                "limiter.http.method-override", HttpSettings.MethodOverride.class);
        Map<String, Map<String, Object>> hints = byName("hints");
        choices.forEach((key, type) -> {
            assertTrue(hints.containsKey(key), key);
            List<?> values = (List<?>) hints.get(key).get("values");
            assertEquals(
                    Arrays.stream(type.getEnumConstants())
                            .map(one -> one.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                            .toList(),
                    values.stream()
                            .map(value -> ((Map<?, ?>) value).get("value"))
                            .toList());
            values.forEach(value -> assertTrue(
                    String.valueOf(((Map<?, ?>) value).get("description")).endsWith("."), key));
        });
        hints.keySet().forEach(key -> assertTrue(properties().containsKey(key), key));
    }

    @Test
    void whatStandsBelowANameIsThat() throws IntrospectionException {
        assertEquals(below("limiter.policies"), propertiesOf(PolicyProperties.class));
        assertEquals(below("limiter.plans"), propertiesOf(PlanProperties.class));
        assertEquals(below("limiter.rules"), propertiesOf(RuleProperties.class));
        assertEquals(below("limiter.rules.<name>.exempt"), propertiesOf(CallerProperties.class));
    }

    private static Set<String> below(String group) {
        return LimiterConfig.keys().stream()
                .filter(key -> key.startsWith(group))
                .map(key -> key.substring(group.length())
                        .replaceFirst("^[.]<name>", "")
                        .replaceFirst("^[.]([^.]*).*", "$1"))
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> propertiesOf(Class<?> type) throws IntrospectionException {
        BeanInfo info = Introspector.getBeanInfo(type, Object.class);
        return Arrays.stream(info.getPropertyDescriptors())
                .filter(property -> property.getReadMethod() != null && property.getWriteMethod() != null)
                .map(FeatureDescriptor::getName)
                .map(name -> name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static LimiterConfig config(Map<String, String> some, Map<String, String> more) {
        LimiterConfig.Builder builder = LimiterConfig.builder();
        some.forEach((key, value) -> builder.property("some", 0, key, value));
        more.forEach((key, value) -> builder.property("more", 0, key, value));
        return builder.build();
    }

    private Map<String, Map<String, Object>> properties() {
        return byName("properties");
    }

    private Map<String, Map<String, Object>> byName(String list) {
        return metadata.list(list).stream()
                .collect(Collectors.toMap(entry -> String.valueOf(entry.get("name")), entry -> entry));
    }
}
