package io.limiter.config;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.address.IpNetwork;
import io.limiter.config.HttpSettings.Headers;
import io.limiter.config.LimiterConfig.BackendKind;
import io.limiter.config.RuleDefinition.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes a configuration from entries. Reads the text; the types of the values check them, and how they fit together.
 * Used once.
 */
final class Binder {
    /** Replaces the invalid policy of a rule, so that the rule's other mistakes are found too. */
    private static final Policy ANY = Policy.of("any", Limit.fixedWindow(Limit.MAX_PERMITS, Duration.ofDays(1)));

    private final Entries entries;
    private final Problems problems;
    private final boolean hasClient;
    private final ReloadSettings origin;

    /**
     * A binder of the entries of all sources.
     *
     * @param hasClient whether the caller has a Redis client, so that no address is needed
     * @param origin how the entries are read again
     */
    Binder(List<ConfigEntry> entries, Problems problems, boolean hasClient, ReloadSettings origin) {
        this.entries = new Entries(entries, problems);
        this.problems = problems;
        this.hasClient = hasClient;
        this.origin = origin;
    }

    /** All keys, with {@code <name>} for the name of a policy or rule: those that the code reads. */
    static List<String> keys() {
        Binder binder = new Binder(List.of(), new Problems(), false, ReloadSettings.NONE);
        binder.bind(Set.of());
        List<String> all = new ArrayList<>(binder.entries.asked);
        for (Group group : Group.values()) {
            all.addAll(group.keys("<name>"));
        }
        return List.copyOf(all);
    }

    /**
     * The configuration.
     *
     * @param otherKeys the caller's own keys
     * @throws ConfigException if anything is wrong, including mistakes noted before
     */
    LimiterConfig bind(Collection<String> otherKeys) {
        BackendKind backend = backend();
        long instances = entries.number("limiter.instances", 1L);
        RedisSettings redis = entries.made(RedisSettings.DEFAULT, this::redis);
        InProcessSettings none = InProcessSettings.DEFAULT;
        InProcessSettings inProcess = entries.made(
                none,
                () -> new InProcessSettings(
                        entries.number("limiter.in-process.max-entries", none.maxEntries()),
                        entries.number("limiter.in-process.max-stamps", none.maxStamps()),
                        entries.number("limiter.wait.max-waiting", none.maxWaiting())));
        ClientIpSettings clientIp = entries.made(ClientIpSettings.DEFAULT, this::clientIp);
        HttpSettings http = entries.made(HttpSettings.DEFAULT, this::http);
        boolean enabled = entries.yes("limiter.enabled", true);
        CallerSettings callers = entries.made(CallerSettings.NONE, () -> CallerSettings.read(entries));
        PlanSettings plans = entries.made(PlanSettings.DEFAULT, () -> PlanSettings.read(entries));
        String jmx = entries.text("limiter.jmx.name");
        DenialSettings denials = entries.made(DenialSettings.DEFAULT, () -> DenialSettings.read(entries));
        ReloadSettings reload = entries.made(ReloadSettings.NONE, () -> origin.read(entries));
        for (ConfigEntry entry : entries.all()) {
            String key = entry.key();
            if (!entries.asked.contains(key) && !otherKeys.contains(key) && !Group.isKey(key)) {
                entries.note(key, "RL-101 unknown key" + instead(key, otherKeys));
            }
        }
        Map<String, Policy> policies = new LinkedHashMap<>();
        Set<String> named = Group.POLICIES.names(entries.all());
        for (String name : named) {
            policies.computeIfAbsent(name, n -> PolicyEntries.policy(entries, n, Group.POLICIES.start + n + "."));
        }
        List<RuleDefinition> rules = new ArrayList<>();
        for (String name : Group.RULES.names(entries.all())) {
            boolean hasPlans = entries.get(Group.RULES.start + name + ".plan") != null;
            RulePlans plansOfRule = hasPlans ? plansOfRule(name, plans) : null;
            Policy policy = hasPlans ? defaultOf(name, plansOfRule) : policyOfRule(name, policies, named);
            RuleDefinition rule = entries.made(() -> rule(
                    name,
                    policy == null ? ANY : policy,
                    policy == null ? null : plansOfRule,
                    clientIp.ipv6PrefixBits()));
            if (policy != null && rule != null) {
                rules.add(rule);
            }
        }
        LimiterConfig config = entries.made(() -> new LimiterConfig(
                enabled, backend, redis, inProcess, instances, clientIp, http, callers, policies, rules, plans, denials,
                jmx, reload));
        problems.throwIfAny();
        return Objects.requireNonNull(config);
    }

    private BackendKind backend() {
        boolean isReachable = hasClient
                || entries.get("limiter.redis.address") != null
                || entries.get("limiter.redis.config") != null;
        BackendKind byDefault = isReachable ? BackendKind.REDIS : BackendKind.IN_PROCESS;
        BackendKind backend = entries.choice("limiter.backend", "backend", byDefault);
        if (backend == BackendKind.REDIS && !isReachable) {
            entries.note(
                    "limiter.backend",
                    "RL-105 Redis needs an address; add limiter.redis.address = redis://127.0.0.1:6379, or"
                            + " limiter.redis.config = classpath:redisson.yaml");
        }
        return backend;
    }

    private RedisSettings redis() {
        RedisSettings none = RedisSettings.DEFAULT;
        List<String> addresses = entries.words("limiter.redis.address");
        return new RedisSettings(
                entries.choice("limiter.redis.mode", "mode", none.mode()),
                addresses,
                entries.text("limiter.redis.master"),
                entries.text("limiter.redis.config"),
                entries.text("limiter.redis.username"),
                entries.text("limiter.redis.password"),
                entries.text("limiter.redis.key-secret"),
                entries.text("limiter.redis.previous-key-secret"),
                entries.read("limiter.redis.prefix", none.prefix(), text -> text),
                entries.read("limiter.redis.deadline", none.deadline(), LimitText::parseDuration),
                entries.read("limiter.redis.startup-wait", none.startupWait(), LimitText::parseDuration),
                entries.read("limiter.redis.denial-cache.max-age", none.denialMaxAge(), LimitText::parseDuration));
    }

    private ClientIpSettings clientIp() {
        String trusted = "limiter.client-ip.trusted-proxies";
        List<String> items = new ArrayList<>(entries.words(trusted));
        boolean all = items.removeIf("all"::equalsIgnoreCase);
        boolean unix = items.removeIf("unix"::equalsIgnoreCase);
        List<IpNetwork> networks = entries.read(
                trusted,
                text -> LimitText.each(items, Binder::proxies).stream()
                        .flatMap(List::stream)
                        .toList());
        return new ClientIpSettings(
                networks == null ? List.of() : networks,
                // Invalid proxies still count as trusted here, so that the header is not reported as a second mistake.
                unix || (networks == null && entries.get(trusted) != null),
                all,
                entries.number("limiter.client-ip.trusted-hops", 0),
                entries.text("limiter.client-ip.header"),
                entries.number("limiter.client-ip.ipv6-prefix", ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS),
                entries.choice("limiter.client-ip.source", "source", ClientIpSettings.DEFAULT.source()));
    }

    private static List<IpNetwork> proxies(String text) {
        Problems.refuseIf(
                text.isEmpty(), "an item is empty; write networks such as 10.0.0.0/8, separated by one comma");
        // The word all is required instead of /0, so that a mistyped prefix does not trust the whole Internet.
        Problems.refuseIf(
                text.matches("[0-9A-Fa-f:.]+/0+"),
                "'" + text + "' would trust every peer; write the networks of your proxies, or the word all if"
                        + " only they can connect");
        return IpNetwork.named(Problem.shown(text));
    }

    private HttpSettings http() {
        HttpSettings none = HttpSettings.DEFAULT;
        return new HttpSettings(
                entries.read(
                        "limiter.http.headers",
                        none.headers(),
                        text -> LimitText.each(LimitText.items(text), Binder::form).stream()
                                .collect(Collectors.toUnmodifiableSet())),
                entries.choice("limiter.http.x-ratelimit-reset", "kind of reset", none.reset()),
                entries.yes("limiter.http.expose-headers", none.exposeHeaders()),
                entries.yes("limiter.http.ignore-case", none.ignoreCase()),
                entries.yes("limiter.http.ignore-trailing-slash", none.ignoreTrailingSlash()),
                entries.choice("limiter.http.method-override", "kind of override", none.methodOverride()),
                entries.text("limiter.http.rejection-handler"));
    }

    /** Drafts 8 to 11 have one wire form. */
    private static Headers form(String text) {
        return Entries.chosen(
                text.replaceFirst("(?i)^draft-(0?[89]|1[01])$", "draft-10"), "form of headers", Headers.DRAFT_10);
    }

    /** The plans of a rule, each with a policy; null when something is wrong, which is noted. */
    private @Nullable RulePlans plansOfRule(String name, PlanSettings plans) {
        String here = Group.RULES.start + name + ".";
        for (String other : List.of("policy", "limits")) {
            if (entries.get(here + other) != null) {
                entries.note(
                        here + other,
                        "RL-106 rule '" + name + "' has plans, which have the limits; keep " + here
                                + "plan or this line");
                return null;
            }
        }
        PolicyEntries policies = PolicyEntries.read(entries, here);
        return entries.read(here + "plan", text -> RulePlans.parse(text, policies.ofPlans(name, plans.limits())));
    }

    /** The policy of the default plan of a rule; null when there is none, which is noted. */
    private @Nullable Policy defaultOf(String name, @Nullable RulePlans plans) {
        String key = Group.RULES.start + name + ".default-plan";
        String plan = entries.text(key);
        // Also the plans with a mistake, which are already reported.
        Set<String> known = Group.PLANS.names(entries.all());
        if (plan == null) {
            entries.note(
                    key,
                    "RL-105 rule '" + name + "' has no plan for callers without one; add " + key + " = "
                            + known.stream().findFirst().orElse("free"));
        } else if (!known.contains(plan)) {
            entries.note(
                    key,
                    "RL-169 there is no such plan; add " + Group.PLANS.start + plan + ".limits = 100/1m"
                            + Suggestion.of(plan, known));
        }
        return plans == null ? null : plans.policies().get(plan);
    }

    private RuleDefinition rule(String name, Policy policy, @Nullable RulePlans plans, int ipv6PrefixBits) {
        String here = Group.RULES.start + name + ".";
        List<KeyPart> key = entries.read(here + "key", List.of(KeyPart.IP), KeyPart::parseAll);
        if (key.isEmpty() && entries.get(here + "ipv6-prefix") != null) {
            entries.note(
                    here + "ipv6-prefix",
                    "the key of this rule is global and has no address; remove this line, or write another key");
        }
        RuleScope scope = RuleScope.read(entries, here);
        Charging read = Charging.read(entries, here, plans);
        // Whether a policy with a mistake counts members is unknown.
        List<KeyPart> member = policy == ANY ? List.of() : read.member();
        Charging charging = new Charging(read.cost(), read.outcomes(), read.plans(), member, read.maxWait());
        return new RuleDefinition(
                name,
                entries.words(here + "path"),
                new LinkedHashSet<>(entries.words(here + "methods")),
                key,
                entries.number(here + "ipv6-prefix", ipv6PrefixBits),
                policy,
                entries.choice(here + "position", "position", RuleDefinition.Position.of(key, scope, charging)),
                scope,
                mode(here),
                charging);
    }

    private Mode mode(String here) {
        boolean shadow = entries.yes(here + "shadow", false);
        return !entries.yes(here + "enabled", true) ? Mode.OFF : shadow ? Mode.SHADOW : Mode.ENFORCED;
    }

    /**
     * The policy that a rule names, or its own; null when it is wrong, which is noted.
     *
     * @param named the names of all policies of the text, also of those that are wrong
     */
    private @Nullable Policy policyOfRule(String name, Map<String, Policy> policies, Set<String> named) {
        String here = Group.RULES.start + name + ".";
        ConfigEntry reference = entries.get(here + "policy");
        String own = Group.POLICIES.properties.stream()
                .filter(property -> entries.get(here + property) != null)
                .findFirst()
                .orElse(null);
        ConfigEntry plan = entries.get(here + "default-plan");
        if (plan != null) {
            entries.note(
                    here + "default-plan",
                    "RL-105 rule '" + name + "' has a default plan, but no source of a caller's plan; add " + here
                            + "plan = header:X-Plan, or remove this line");
        }
        if (reference == null && own != null) {
            return PolicyEntries.policy(entries, name, here);
        }
        if (reference == null) {
            entries.note(
                    here + "policy",
                    "RL-105 rule '" + name + "' has no limit; add " + here + "policy or " + here + "limits");
            return null;
        }
        String policy = reference.value();
        if (own != null) {
            entries.note(
                    here + own,
                    "RL-106 rule '" + name + "' names policy '" + policy + "' (" + reference.source() + ") and has "
                            + own + " of its own; keep one of the two");
        } else if (!named.contains(policy)) {
            entries.note(
                    here + "policy",
                    "RL-107 there is no such policy; add " + Group.POLICIES.start + policy + ".limits = 3/10s"
                            + Suggestion.of(policy, named));
        }
        return policies.get(policy);
    }

    /** What to write instead of an unknown key. */
    private static String instead(String key, Collection<String> otherKeys) {
        String whole = key.startsWith("limiter.") ? key : "limiter." + key;
        int dot = whole.lastIndexOf('.');
        String words = LimitText.withValue(whole.substring(dot + 1));
        if (words != null && Group.hasOwner(whole)) {
            return "; write '" + words + "' in the limit, after its algorithm: " + whole.substring(0, dot) + ".limits";
        }
        String name = whole.replaceFirst("^limiter\\.\\w+\\.(.*?)(?:\\.[^.]*)?$", "$1");
        List<String> known = new ArrayList<>(otherKeys);
        // Of a.exempt.users, the name is a.
        for (String owner : List.of(name, name.replaceFirst("\\.[^.]*$", ""))) {
            keys().forEach(one -> known.add(one.replace("<name>", owner)));
        }
        String near = Suggestion.of(whole + Group.lacking(whole), known);
        return near.isEmpty() ? "; remove it" : near;
    }
}
