package io.limiter.internal.config;

import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.config.Settings.BackendKind;
import io.limiter.internal.config.Settings.Callers;
import io.limiter.internal.config.Settings.DenialRecord;
import io.limiter.internal.config.Settings.Limits;
import io.limiter.internal.config.Settings.Operation;
import io.limiter.internal.config.Settings.PlanSettings;
import io.limiter.internal.config.Settings.Storage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes settings of entries. Reads the text; the types of the values check it, and how they fit together. Used once. */
public final class SettingsParser {
    private final PropertyReader reader;
    private final Problems problems;
    private final Set<String> foreignKeys;

    /**
     * A parser of all sources, each of which wins over those before it.
     *
     * @param problems with the mistakes that were found before
     * @param foreignKeys the caller's own keys
     */
    public SettingsParser(
            List<ConfigEntry> entries,
            Map<String, String> environment,
            List<ConfigEntry> over,
            Problems problems,
            Set<String> foreignKeys) {
        List<ConfigEntry> all = new ArrayList<>(entries);
        all.addAll(EnvironmentText.entries(environment, entries, foreignKeys, problems));
        all.addAll(over);
        this.reader = new PropertyReader(all, problems);
        this.problems = problems;
        this.foreignKeys = foreignKeys;
    }

    /**
     * The settings; not to be used if there are mistakes, which are noted.
     *
     * @param inCode policies besides those of the text
     * @param hasClient whether the caller has a Redis client, so that no address is needed
     * @param files where the entries are read: {@link ReloadSettings#files}
     */
    public Settings parse(Collection<Policy> inCode, boolean hasClient, @Nullable List<Path> files) {
        boolean enabled = reader.yes("limiter.enabled");
        Storage storage = storage(hasClient);
        ClientIpSettings clientIp = ClientIpSettings.read(reader);
        HttpSettings http = HttpSettings.read(reader);
        Callers callers = new Callers(
                CallerMatcher.read(reader, "limiter.exempt."),
                CallerMatcher.networks(reader, "limiter.deny.addresses"),
                reader.number("limiter.deny.status"));
        PlanSettings plans = PlanSettings.read(reader);
        DenialRecord denials = new DenialRecord(
                reader.number("limiter.denials.log-per-second"), reader.number("limiter.denials.keys"));
        ControlSettings control = ControlSettings.read(reader);
        ReloadSettings reload = ReloadSettings.read(reader, files);
        foreignKeys.stream().filter(key -> ConfigKey.find(key) != null).forEach(reader::text);
        reader.byKey().values().forEach(entry -> checkKey(entry.key()));
        Limits limits = limits(inCode, plans, clientIp);
        reader.checkTogether();
        return new Settings(enabled, storage, clientIp, http, callers, limits, new Operation(denials, reload, control));
    }

    /** Notes the mistakes that are certain of a text that will lie over an unknown configuration. */
    public void checkGrammar() {
        for (ConfigEntry entry : reader.byKey().values()) {
            checkKey(entry.key());
            ConfigKey known = ConfigKey.find(entry.key());
            if (known != null) {
                reader.must(
                        entry.key(),
                        !known.needsRestart(),
                        "RL-150 it can't change while instances run; write it into the configuration of each");
                reader.check(entry.key(), () -> {
                    known.check(entry.value());
                    if (entry.key().endsWith(".limits")) {
                        LimitText.parseAll(entry.value());
                    } else if (entry.key().endsWith(".block")) {
                        LimitText.parseBlock(entry.value());
                    }
                });
            }
        }
    }

    private void checkKey(String key) {
        ConfigKey known = ConfigKey.find(key);
        if (!foreignKeys.contains(key) && (known == null || known.isOfSpring())) {
            reader.note(key, "RL-101 unknown key" + instead(key));
        }
    }

    private Storage storage(boolean hasClient) {
        String key = "limiter.backend";
        boolean isReachable = hasClient || reader.has("limiter.redis.address") || reader.has("limiter.redis.config");
        BackendKind written = reader.choice(key, "backend", BackendKind.IN_PROCESS);
        BackendKind backend = reader.has(key) || !isReachable ? written : BackendKind.REDIS;
        reader.fix(key, backend);
        reader.must(
                key,
                backend != BackendKind.REDIS || isReachable,
                "RL-105 Redis needs an address; add limiter.redis.address = redis://127.0.0.1:6379, or"
                        + " limiter.redis.config = classpath:redisson.yaml");
        RedisSettings redis = RedisSettings.read(reader);
        return new Storage(
                backend,
                redis,
                reader.number("limiter.in-process.max-entries"),
                reader.number("limiter.in-process.max-timestamps", 0),
                reader.number("limiter.wait.max-waiting"),
                reader.number("limiter.instances", 0),
                reader.duration("limiter.holds.keep", HoldTerms.DEFAULT_KEEP));
    }

    private Limits limits(Collection<Policy> inCode, PlanSettings plans, ClientIpSettings clientIp) {
        Map<String, Policy> policies = new LinkedHashMap<>();
        Set<String> named = NamedKeys.POLICIES.names(reader.byKey().values());
        for (String name : named) {
            Policy policy = PolicyParser.policy(reader, name, NamedKeys.POLICIES.start + name + ".");
            if (policy != null) {
                policies.put(name, policy);
            }
        }
        for (Policy policy : inCode) {
            Policy other = policies.put(policy.name(), policy);
            Problems.refuseIf(
                    other != null && !other.equals(policy),
                    "there are two policies '" + policy.name() + "'; rename one of the two");
            named.add(policy.name());
        }
        List<RuleDefinition> rules = new ArrayList<>();
        for (String name : NamedKeys.RULES.names(reader.byKey().values())) {
            int before = problems.size();
            RuleDefinition rule = new RuleParser(reader, name).parse(policies, named, plans, clientIp);
            if (problems.size() == before) {
                rules.add(rule);
            }
        }
        rules.forEach(rule -> addPolicies(rule, policies));
        return new Limits(Collections.unmodifiableMap(policies), List.copyOf(rules), plans);
    }

    /** Adds the policies of a rule to the others; notes a name that is already in use. */
    private void addPolicies(RuleDefinition rule, Map<String, Policy> all) {
        String here = NamedKeys.RULES.start + rule.name() + ".";
        for (Policy policy : rule.policies()) {
            Policy other = all.putIfAbsent(policy.name(), policy);
            reader.must(
                    here + "limits",
                    other == null || other.equals(policy),
                    "RL-106 rule '" + rule.name() + "' has limits for a policy '" + policy.name()
                            + "' of its own, and there is another one of that name; rename one of the two, or write "
                            + here
                            + "policy");
        }
    }

    /** What to write instead of an unknown key. */
    private String instead(String key) {
        String whole = key.startsWith("limiter.") ? key : "limiter." + key;
        if (whole.contains("..")) {
            return "; a name is empty there";
        }
        String name = whole.replaceFirst("^limiter\\.\\w+\\.(.*?)(?:\\.[^.]*)?$", "$1");
        List<String> known = new ArrayList<>(foreignKeys);
        // Of a.exempt.users, the name is a.
        for (String owner : List.of(name, name.replaceFirst("\\.[^.]*$", ""))) {
            ConfigKey.names(false).forEach(one -> known.add(one.replace(ConfigKey.NAME, owner)));
        }
        String near = Suggestion.of(whole, known);
        return near.isEmpty() ? "; remove it" : near;
    }
}
