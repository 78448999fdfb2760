package io.limiter.spring.boot;

import io.limiter.DiagnosticLog;
import io.limiter.config.LimitText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Reports keys of the limiter that are not below {@code limiter}, because their lines are indented too little. Nothing reads them. An
 * application may have {@code rules} or {@code policies} of its own, so that only those count whose values are ours too.
 */
final class MisplacedKeys implements SmartInitializingSingleton {
    private static final Logger LOG = DiagnosticLog.of(LimiterAutoConfiguration.class);

    private static final Pattern SECTIONS = Pattern.compile("(?i)(rules|policies|client[-_]?ip|in[-_]?process)[.\\[]");

    private static final int MOST_SHOWN = 6;

    /** Those whose keys no other library is likely to have. */
    private static final Set<String> UNUSUAL = Set.of("limiter.clientip.", "limiter.inprocess.");

    private final ConfigurableEnvironment environment;
    private final Set<String> policies;

    /**
     * Of an environment.
     *
     * @param policies the names of the policies that are configured
     */
    MisplacedKeys(ConfigurableEnvironment environment, Set<String> policies) {
        this.environment = environment;
        this.policies = policies;
    }

    /**
     * A key that may be ours.
     *
     * @param shown as it is written
     * @param property its last part, in our spelling
     */
    private record Found(Place place, String shown, String property, String value) {
        @Override
        public String toString() {
            return shown + " (" + place.source() + (place.line() > 0 ? ", line " + place.line() : "") + ")";
        }
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<Found> ours = new ArrayList<>();
        Map<String, List<Found>> groups = groups();
        Set<String> named = new TreeSet<>(policies);
        groups.keySet().stream()
                .filter(group -> group.startsWith("policies."))
                .map(group -> group.substring("policies.".length()))
                .forEach(named::add);
        groups.forEach((group, found) -> {
            if (group.isEmpty() || isOurs(found, named)) {
                ours.addAll(found);
            }
        });
        if (!ours.isEmpty()) {
            LOG.warn(
                    "RL-141 {} keys look like the limiter's, are not below limiter, and are not read: {}; indent their lines below"
                            + " limiter, or write limiter.{}",
                    ours.size(),
                    ours.subList(0, Math.min(ours.size(), MOST_SHOWN)),
                    ours.get(0).shown());
        }
    }

    /** A rule or a policy has limits in our grammar, or leads a path to a policy that there is. */
    private static boolean isOurs(List<Found> group, Set<String> policies) {
        return group.stream().anyMatch(one -> one.property().equals("limits") && isLimits(one.value()))
                || (group.stream().anyMatch(one -> one.property().equals("path"))
                        && group.stream()
                                .anyMatch(one -> one.property().equals("policy") && policies.contains(one.value())));
    }

    private static boolean isLimits(String text) {
        try {
            LimitText.parseAll(text);
            return true;
        } catch (IllegalArgumentException noLimits) {
            return false;
        }
    }

    /** By rule or policy ({@code rules.api}), in the order of the files; the others below an empty name. */
    private Map<String, List<Found>> groups() {
        Map<String, List<Found>> groups = new LinkedHashMap<>();
        for (PropertySource<?> source : environment.getPropertySources()) {
            // A variable of the environment has no dots; a cluster may put RULES_... there.
            if (source instanceof EnumerablePropertySource<?> known
                    && !(source instanceof SystemEnvironmentPropertySource)) {
                for (String name : known.getPropertyNames()) {
                    add(known, name, groups);
                }
            }
        }
        return groups;
    }

    private void add(EnumerablePropertySource<?> source, String name, Map<String, List<Found>> groups) {
        String group = groupOf(KnownKeys.Indexed.of(name).name());
        if (group != null) {
            String key = KnownKeys.Indexed.of(name).name();
            String property =
                    Objects.requireNonNull(KnownKeys.find("limiter." + key)).text();
            groups.computeIfAbsent(group, none -> new ArrayList<>())
                    .add(new Found(
                            Place.of(source, name),
                            name,
                            property.substring(property.lastIndexOf('.') + 1),
                            environment.resolvePlaceholders(String.valueOf(source.getProperty(name)))));
        }
    }

    /** The rule or policy that a key would be of, below {@code limiter}; null when it would be none of ours. */
    private static @Nullable String groupOf(String name) {
        if (!SECTIONS.matcher(name).lookingAt()) {
            return null;
        }
        KnownKeys.Key key = KnownKeys.find("limiter." + name);
        if (key == null || key.isSection()) {
            return null;
        }
        if (UNUSUAL.stream().anyMatch(key.uniform()::startsWith)) {
            return KnownKeys.isSingle(key) ? "" : null;
        }
        String text = key.text().substring("limiter.".length());
        boolean named = text.startsWith("rules.") || text.startsWith("policies.");
        return named && text.indexOf('.') < text.lastIndexOf('.') ? text.substring(0, text.lastIndexOf('.')) : null;
    }
}
