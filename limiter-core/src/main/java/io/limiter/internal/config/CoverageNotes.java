package io.limiter.internal.config;

import io.limiter.internal.Algorithm;
import io.limiter.internal.config.RuleDefinition.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a configuration leaves unlimited without looking so, and what lets a client block another one, as sentences for the log
 * and for reports.
 */
final class CoverageNotes {
    /** What names a stock rather than a client. */
    private static final Set<KeyPart.Kind> OF_STOCKS =
            Set.of(KeyPart.Kind.PATH, KeyPart.Kind.QUERY, KeyPart.Kind.CLASS);

    private CoverageNotes() {}

    /** Sentences that begin with a code of docs/diagnostics.md. */
    static List<String> of(Settings config) {
        if (!config.enabled()) {
            return List.of("RL-118 nothing is limited, because limiter.enabled = false; remove it to limit again");
        }
        List<String> all = new ArrayList<>();
        for (RuleDefinition rule : config.rules()) {
            String name = "rule '" + rule.name() + "'";
            String here = NamedKeys.RULES.start + rule.name();
            if (rule.mode() != Mode.ENFORCED) {
                all.add(
                        rule.mode() == Mode.OFF
                                ? "RL-156 " + name + " is off and counts nothing; remove " + here
                                        + ".enabled = false to limit again"
                                : "RL-155 " + name + " only counts and denies nothing; remove " + here
                                        + ".shadow = true to enforce it");
                continue;
            }
            // A client that writes another value each time has a new quota each time.
            if (rule.hasInventedKey()
                    && !rule.scope().paths().stream().allMatch(path -> isCovered(path, rule, config))) {
                all.add("RL-197 " + name + " lets clients choose their key " + rule.key()
                        + ", so one that sends another value with each request is never denied; add a rule with key = ip on"
                        + " the same path, or, if something before the rule refuses unknown values, write " + here
                        + ".key = " + rule.key().stream().map(KeyPart::verified).collect(Collectors.joining(" + ")));
            }
            if (rule.letsOthersBlock()) {
                String whose = rule.key().isEmpty()
                        ? "all clients have one key"
                        : "any client can send the key " + rule.key() + " of another one";
                all.add("RL-175 " + name + " blocks keys that were denied too often, and " + whose
                        + "; add ip to the key, or remove the block");
            }
            if (rule.policies().stream()
                    .flatMap(policy -> policy.limits().stream())
                    .anyMatch(limit -> limit.algorithm() == Algorithm.ALLOTMENT)) {
                addStock(name, rule, all);
            }
            if (config.http().ignoreTrailingSlash()) {
                addPages(name, rule.scope().paths(), all);
            }
        }
        return List.copyOf(all);
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
        paths.stream()
                .filter(path -> path.endsWith("/") && !path.endsWith("*/"))
                .filter(path -> paths.stream().allMatch(other -> other.equals(path) || !other.startsWith(path)))
                .forEach(path -> all.add("RL-180 " + name + " counts only the page " + path
                        + " and nothing below it; write " + path + "* for everything below"));
    }

    /** What a client can do about a stock: get one of its own, or be as many members as it likes. */
    private static void addStock(String name, RuleDefinition rule, List<String> all) {
        List<KeyPart> ofClients = new ArrayList<>(rule.key());
        ofClients.removeIf(part -> OF_STOCKS.contains(part.kind()));
        if (!ofClients.isEmpty()) {
            all.add("RL-178 " + name + " has a stock for each " + ofClients
                    + ", not one for all clients; write key = global, or path:name for a stock of each such name");
        }
        if (rule.charging().member().stream().noneMatch(part -> part.kind().is(KeyPart.Trait.KNOWN))) {
            all.add("RL-179 " + name + " lets clients choose their member "
                    + rule.charging().member()
                    + ", so one client can be many members of a stock; write member = user, or let a proxy overwrite what"
                    + " clients send");
        }
    }
}
