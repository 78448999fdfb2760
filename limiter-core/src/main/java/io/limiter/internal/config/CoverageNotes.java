package io.limiter.internal.config;

import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.RuleDefinition.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The requests that a configuration does not count, does not deny, or denies because of others, as sentences for the
 * log and for reports.
 */
final class CoverageNotes {
    private CoverageNotes() {}

    /** Sentences that begin with a code of docs/diagnostics.md. */
    static List<String> of(Settings config) {
        if (!config.enabled()) {
            return List.of("RL-118 nothing is limited, because limiter.enabled = false; remove it to limit again");
        }
        List<String> all = new ArrayList<>();
        addExempt("no rule counts", config.callers().exempt(), all);
        config.policies().values().forEach(policy -> addClosed(policy, config, all));
        for (RuleDefinition rule : config.rules()) {
            String name = "rule '" + rule.name() + "'";
            if (rule.mode() == Mode.OFF) {
                all.add("RL-156 " + name + " is off and counts nothing; remove limiter.rules." + rule.name()
                        + ".enabled = false to limit again");
                continue;
            }
            addInvented(name, rule, config, all);
            if (rule.mode() == Mode.SHADOW) {
                all.add("RL-155 " + name + " only counts and denies nothing; remove limiter.rules." + rule.name()
                        + ".shadow = true to enforce it");
            }
            if (rule.letsOthersBlock()) {
                all.add("RL-175 " + name + " blocks keys that were denied too often, and anyone could block "
                        + (rule.key().isEmpty()
                                ? "all callers, because they have one key"
                                : "another caller, because a client can write that one's key " + rule.key())
                        + "; add ip to the key, or remove limiter.rules." + rule.name()
                        + ".block or that of its policy");
            }
            if (rule.mode() == Mode.ENFORCED && has(rule, Algorithm.ALLOTMENT)) {
                addStock(name, rule, all);
            }
            if (rule.mode() == Mode.ENFORCED && rule.key().isEmpty() && has(rule, Algorithm.CONCURRENT)) {
                all.add("RL-183 " + name
                        + " limits the calls in flight of all clients together, so a few that read slowly can"
                        + " hold all permits; add a rule with key ip and calls in flight of its own");
            }
            if (!rule.scope().except().isEmpty()) {
                all.add("RL-153 " + name + " does not count the paths "
                        + rule.scope().except());
            }
            addExempt(name + " does not count", rule.scope().exempt(), all);
            if (config.http().ignoreTrailingSlash()) {
                addPages(name, rule.scope().paths(), all);
            }
        }
        return List.copyOf(all);
    }

    private static void addClosed(Policy policy, Settings config, List<String> all) {
        String owner =
                config.rules().stream().anyMatch(rule -> rule.name().equals(policy.name())) ? "rules" : "policies";
        if (policy.limits().stream().anyMatch(limit -> limit.permits() == 0)) {
            all.add("RL-195 policy '" + policy.name() + "' denies everybody, because of " + policy.limits()
                    + "; write limiter." + owner + "." + policy.name()
                    + ".limits = 100/1m, or ignore this if it is closed on purpose");
        }
    }

    /** A client that writes another value each time has a new quota each time. */
    private static void addInvented(String name, RuleDefinition rule, Settings config, List<String> all) {
        if (rule.mode() == Mode.ENFORCED
                && rule.hasInventedKey()
                && !rule.scope().paths().stream().allMatch(path -> isCovered(path, rule, config))) {
            all.add("RL-197 " + name + " lets clients choose their key " + rule.key()
                    + ", so one that sends another value with each request is never denied; add a rule with key = ip on the"
                    + " same path, or, if something before the rule refuses unknown values, write limiter.rules."
                    + rule.name()
                    + ".key = " + rule.key().stream().map(KeyPart::verified).collect(Collectors.joining(" + ")));
        }
    }

    /** Whether another rule counts all requests to a path, by a key of which a client does not have many for nothing. */
    private static boolean isCovered(String path, RuleDefinition rule, Settings config) {
        Set<String> methods = rule.scope().methods();
        return config.rules().stream()
                .filter(other -> other.mode() == Mode.ENFORCED
                        && (other.key().isEmpty() || other.key().stream().anyMatch(KeyPart::isCostly)))
                .map(RuleDefinition::scope)
                .filter(other -> other.headers().isEmpty() && other.query().isEmpty() && !other.isDefault())
                .filter(other -> other.methods().isEmpty()
                        || (!methods.isEmpty() && other.methods().containsAll(methods)))
                .flatMap(other -> other.paths().stream())
                .anyMatch(wide -> wide.equals(path)
                        || (wide.matches("[^*{]*/\\*{1,2}")
                                && (path + "/").startsWith(wide.replaceFirst("\\*+$", ""))));
    }

    /** In other configurations such a path is all below it. */
    private static void addPages(String name, List<String> paths, List<String> all) {
        for (String path : paths) {
            if (path.endsWith("/")
                    && !path.endsWith("*/")
                    && paths.stream().allMatch(other -> other.equals(path) || !other.startsWith(path))) {
                String page =
                        path.length() == 1 ? "" : ", or " + path.substring(0, path.length() - 1) + " for that page";
                all.add("RL-180 " + name + " counts only the page " + path + " and nothing below it; write " + path
                        + "* for everything below" + page);
            }
        }
    }

    private static boolean has(RuleDefinition rule, Algorithm algorithm) {
        return rule.policies().stream()
                .flatMap(policy -> policy.limits().stream())
                .anyMatch(limit -> limit.algorithm() == algorithm);
    }

    /** What a client can do about a stock: get one of its own, or be as many members as it likes. */
    private static void addStock(String name, RuleDefinition rule, List<String> all) {
        List<KeyPart> ofClients = rule.key().stream()
                .filter(part -> part.kind() != KeyPart.Kind.PATH
                        && part.kind() != KeyPart.Kind.QUERY
                        && part.kind() != KeyPart.Kind.CLASS)
                .toList();
        if (!ofClients.isEmpty()) {
            all.add("RL-178 " + name + " has a stock for each " + ofClients
                    + ", not one for all clients; write limiter.rules." + rule.name()
                    + ".key = global, or path:name for a stock of each such name");
        }
        if (rule.charging().member().stream().noneMatch(part -> part.kind().is(KeyPart.Trait.KNOWN))) {
            all.add("RL-179 " + name + " lets clients choose their member "
                    + rule.charging().member()
                    + ", so one client can be many members of a stock; write limiter.rules." + rule.name()
                    + ".member = user, or let a proxy overwrite what clients send");
        }
    }

    private static void addExempt(String what, CallerMatcher callers, List<String> all) {
        if (!callers.isEmpty()) {
            all.add("RL-154 " + what + " callers of " + callers);
        }
    }
}
