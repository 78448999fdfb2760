package io.limiter.config;

import io.limiter.FailureMode;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.LimiterConfig.InProcessSettings;
import io.limiter.config.LimiterConfig.RedisSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes a configuration of entries, and notes everything that is wrong with them. Used once. */
final class Binder {
    private static final int DEFAULT_MAX_ENTRIES = 100_000;
    private static final long DEFAULT_MAX_STAMPS = 10_000_000;

    /** How it is known whether there is a Redis, and how to reach it. */
    enum Connection {
        /** The text says how, and with that whether, unless {@code limiter.backend} says otherwise. */
        FOUND,
        /** The caller has a client, and with that there is one. */
        GIVEN
    }

    private final Problems problems;
    private final Set<String> otherKeys;
    private final Connection connection;
    private final Map<String, ConfigEntry> single = new LinkedHashMap<>();
    private final Map<String, Map<String, ConfigEntry>> policyEntries = new LinkedHashMap<>();
    private final Map<String, Map<String, ConfigEntry>> ruleEntries = new LinkedHashMap<>();

    Binder(List<ConfigEntry> entries, Problems problems, Set<String> otherKeys, Connection connection) {
        this.problems = problems;
        this.otherKeys = otherKeys;
        this.connection = connection;
        entries.forEach(this::sort);
    }

    LimiterConfig bind() {
        BackendKind backend = value(Keys.BACKEND, unlessSaid(), text -> choice(text, "backend", BackendKind.values()));
        RedisSettings redis = new RedisBinder(this, single, problems, connection).bind(backend);
        InProcessSettings inProcess = new InProcessSettings(
                value(Keys.MAX_ENTRIES, DEFAULT_MAX_ENTRIES, text -> (int) whole(text, 1, 1 << 30)),
                value(Keys.MAX_STAMPS, DEFAULT_MAX_STAMPS, text -> whole(text, 1, 1L << 40)));
        long instances = value(Keys.INSTANCES, 1L, text -> whole(text, 1, 1_000_000));
        ClientIpSettings clientIp = new ClientIpBinder(this, single, problems).bind();
        HttpSettings http = new HttpBinder(this, single, problems).bind();
        Map<String, Policy> policies = new LinkedHashMap<>();
        policyEntries.forEach((name, entries) -> {
            Policy policy = policy(name, entries);
            if (policy != null) {
                policies.put(name, policy);
            }
        });
        List<RuleDefinition> rules = new ArrayList<>();
        ruleEntries.forEach((name, entries) -> {
            RuleDefinition rule = new RuleBinder(name, entries, problems)
                    .bind(this, policies, policyEntries.keySet(), clientIp.ipv6PrefixBits());
            if (rule != null) {
                rules.add(rule);
            }
        });
        return new LimiterConfig(backend, redis, inProcess, instances, clientIp, http, policies, rules);
    }

    private BackendKind unlessSaid() {
        boolean isReachable = single.containsKey(Keys.REDIS_ADDRESS) || single.containsKey(Keys.REDIS_CONFIG);
        return connection == Connection.GIVEN || (connection == Connection.FOUND && isReachable)
                ? BackendKind.REDIS
                : BackendKind.IN_PROCESS;
    }

    /** The policy of the entries limits and on-failure; null when it is wrong, which is noted. */
    @Nullable
    Policy policy(String name, Map<String, ConfigEntry> entries) {
        FailureMode mode = bound(entries.get(Keys.ON_FAILURE), FailureMode.LOCAL, Binder::failureMode);
        ConfigEntry deadline = entries.get(Keys.DEADLINE);
        Duration longest = deadline == null ? null : boundOrNull(deadline, text -> duration(text, 1));
        ConfigEntry limits = entries.get(Keys.LIMITS);
        if (limits == null) {
            ConfigEntry other = entries.values().iterator().next();
            problems.add(
                    Problems.MISSING,
                    other,
                    "policy '" + name + "' has no limits; add " + siblingKey(other, Keys.LIMITS) + " = 3/10s");
            return null;
        }
        return boundOrNull(limits, text -> new Policy(name, LimitText.parseAll(text), mode, longest));
    }

    private static FailureMode failureMode(String text) {
        String meant = Keys.failureMode(text);
        if (meant != null) {
            throw new IllegalArgumentException("no mode; did you mean '" + meant + "'?");
        }
        return choice(text, "mode", FailureMode.values());
    }

    static String siblingKey(ConfigEntry entry, String property) {
        return entry.key().substring(0, entry.key().lastIndexOf('.') + 1) + property;
    }

    /** What a function makes of an entry's value; the fallback when there is no entry, or it is wrong, which is noted. */
    <T> T bound(@Nullable ConfigEntry entry, T fallback, Function<String, T> function) {
        T value = entry == null ? null : boundOrNull(entry, function);
        return value == null ? fallback : value;
    }

    private <T> @Nullable T boundOrNull(ConfigEntry entry, Function<String, T> function) {
        try {
            return function.apply(entry.value());
        } catch (IllegalArgumentException e) {
            problems.add(Problems.VALUE, entry, String.valueOf(e.getMessage()));
            return null;
        }
    }

    private void sort(ConfigEntry entry) {
        String key = entry.key();
        if (Keys.SINGLE.contains(key)) {
            single.put(key, entry);
        } else if (!otherKeys.contains(key)
                && !sort(entry, Keys.POLICIES, Keys.OF_POLICY, policyEntries)
                && !sort(entry, Keys.RULES, Keys.OF_RULE, ruleEntries)) {
            problems.add(Problems.UNKNOWN, entry, "unknown key" + instead(key));
        }
    }

    /** What to write instead of an unknown key. */
    private String instead(String key) {
        for (String group : List.of(Keys.POLICIES, Keys.RULES)) {
            if (key.startsWith(group) && key.length() > group.length()) {
                List<String> properties = group.equals(Keys.POLICIES) ? Keys.OF_POLICY : Keys.OF_RULE;
                String name = key.substring(group.length());
                return "; write " + group
                        + (properties.contains(name) ? "<name>." + name : name + "." + properties.get(0)) + " (or "
                        + String.join(", ", properties.subList(1, properties.size())) + ")";
            }
        }
        if (isKey(Keys.ROOT + key)) {
            return "; did you mean '" + Keys.ROOT + key + "'?";
        }
        List<String> known = new ArrayList<>(Keys.all());
        known.addAll(otherKeys);
        String suggestion = Suggestion.of(key, known);
        if (!suggestion.isEmpty()) {
            return suggestion;
        }
        String section = key.substring(0, key.lastIndexOf('.') + 1);
        List<String> near = known.stream()
                .filter(other -> !section.equals(Keys.ROOT) && other.startsWith(section))
                .toList();
        return "; remove it, or write one of "
                + String.join(
                        ", ",
                        near.isEmpty()
                                ? known.stream().map(Binder::section).distinct().toList()
                                : near);
    }

    private static boolean isKey(String key) {
        return Keys.SINGLE.contains(key)
                || Keys.OF_POLICY.stream().anyMatch(property -> isOf(Keys.POLICIES, property, key))
                || Keys.OF_RULE.stream().anyMatch(property -> isOf(Keys.RULES, property, key));
    }

    private static boolean isOf(String group, String property, String key) {
        return key.startsWith(group)
                && key.endsWith("." + property)
                && key.length() > group.length() + property.length() + 1;
    }

    /** A key, or all keys of its section. */
    private static String section(String key) {
        int dot = key.indexOf('.', Keys.ROOT.length());
        return dot < 0 ? key : key.substring(0, dot + 1) + "*";
    }

    private boolean sort(
            ConfigEntry entry, String group, List<String> properties, Map<String, Map<String, ConfigEntry>> named) {
        String key = entry.key();
        int dot = key.lastIndexOf('.');
        if (!key.startsWith(group) || dot <= group.length()) {
            return false;
        }
        String property = key.substring(dot + 1);
        if (properties.contains(property)) {
            named.computeIfAbsent(key.substring(group.length(), dot), n -> new LinkedHashMap<>())
                    .put(property, entry);
        } else {
            String mode = Keys.failureMode(property);
            String suggestion = mode == null
                    ? Suggestion.of(property, properties)
                    : "; did you mean " + Keys.ON_FAILURE + " = " + mode + "?";
            problems.add(
                    Problems.UNKNOWN,
                    entry,
                    "unknown key; '" + property + "' is none of " + String.join(", ", properties) + suggestion);
        }
        return true;
    }

    private <T> T value(String key, T fallback, Function<String, T> function) {
        return bound(single.get(key), fallback, function);
    }

    static Duration duration(String text, long leastMillis) {
        Duration duration = LimitText.parseDuration(text);
        if (duration.toMillis() < leastMillis || duration.compareTo(Duration.ofMinutes(1)) > 0) {
            throw new IllegalArgumentException("outside " + leastMillis + "ms to 60s; write a duration such as 50ms");
        }
        return duration;
    }

    static long whole(String text, long least, long most) {
        long number = text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
        if (number < least || number > most) {
            throw new IllegalArgumentException("no whole number from " + least + " to " + most);
        }
        return number;
    }

    static <E extends Enum<E>> E choice(String text, String what, E[] choices) {
        List<String> words = Arrays.stream(choices)
                .map(choice -> choice.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
        int index = words.indexOf(text.toLowerCase(Locale.ROOT));
        if (index < 0) {
            throw new IllegalArgumentException(
                    "no " + what + "; write " + String.join(" or ", words) + Suggestion.of(text, words));
        }
        return choices[index];
    }
}
