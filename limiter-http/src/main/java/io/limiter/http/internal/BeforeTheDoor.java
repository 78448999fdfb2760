package io.limiter.http.internal;

import io.limiter.internal.config.ClientIpSettings.Source;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.Settings;
import java.util.Collection;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * Checks of configurations for what something before a door, such as a filter before the limiter's, replaces: the addresses of
 * clients, methods, or the beginning of paths. The doors know what is there; here are the findings and their words.
 */
public final class BeforeTheDoor {
    private static final String WAYS_OUT = "; write limiter.client-ip.source = connection, with your"
            + " limiter.client-ip.trusted-proxies, or container if that address is right";

    private BeforeTheDoor() {}

    /**
     * Refuses a configuration that depends on addresses which clients may have written.
     *
     * @param by what replaces the address, as an operator calls it
     * @param takesHeader whether it removes what it has read from the headers
     * @throws IllegalArgumentException if callers are exempt or denied by address, or the header is needed
     */
    public static void refuse(Settings config, String by, boolean takesHeader) {
        Source source = config.clientIp().source();
        if (source == Source.AUTO && namesAddresses(config)) {
            throw new IllegalArgumentException("RL-191 " + by
                    + " replaces the client's address, and there are exempt or denied addresses" + WAYS_OUT);
        }
        if (source == Source.CONNECTION && takesHeader) {
            throw new IllegalArgumentException("RL-192 limiter.client-ip.source is connection, and " + by
                    + " removes the header of the proxies; write server.forward-headers-strategy = framework or none, or"
                    + " source = container");
        }
    }

    /** That addresses are replaced, as sentences for the log, unless the configuration shows that this is known. */
    public static List<String> findings(Settings config, String by) {
        return config.clientIp().source() != Source.AUTO
                ? List.of()
                : List.of("RL-330 " + by
                        + " replaces the client's address before the limiter; a client that can write its header gets new"
                        + " quotas" + WAYS_OUT);
    }

    /** That methods are replaced where rules don't see it, as sentences for the log. */
    public static List<String> methodFindings(Settings config, Collection<RuleDefinition> rules, String by) {
        return config.http().methodOverride() == MethodOverride.FORMS
                        || rules.stream()
                                .allMatch(rule -> rule.scope().methods().isEmpty())
                ? List.of()
                : List.of(
                        "RL-324 " + by + " takes methods from the bodies of forms, which the limiter does not read, and"
                                + " there are rules with methods; add limiter.http.method-override = forms");
    }

    /**
     * That rules begin with the path before all paths of the application, which is no part of theirs, as sentences for the log.
     *
     * @param prefix without a slash at its end
     */
    public static List<String> prefixFindings(String prefix, Collection<RuleDefinition> rules) {
        // A rule that also has the path without the prefix still limits.
        List<RulePath> found = RulePath.all(
                rules,
                (rule, path) ->
                        beginsWith(prefix, path) && !rule.scope().paths().contains(inside(prefix, path)));
        return found.isEmpty()
                ? List.of()
                : List.of("RL-325 rules begin with the context path " + prefix + ": " + found
                        + ". Paths of rules do not include the context path, so they match no request; write "
                        + inside(prefix, found.get(0).path())
                        + " instead. Ignore this if the application has such paths inside");
    }

    /** A path of a rule, as a message shows it. */
    public record RulePath(String rule, String path) {
        /** The paths of enabled rules of which something is true. */
        public static List<RulePath> all(Collection<RuleDefinition> rules, BiPredicate<RuleDefinition, String> which) {
            return rules.stream()
                    .filter(rule -> rule.mode() != Mode.OFF)
                    .flatMap(rule -> rule.scope().paths().stream()
                            .filter(path -> which.test(rule, path))
                            .map(path -> new RulePath(rule.name(), path)))
                    .toList();
        }

        @Override
        public String toString() {
            return rule + " (" + path + ")";
        }
    }

    /** Whether the path has these first segments. Ignores case, as rules may. */
    public static boolean beginsWith(String prefix, String path) {
        return (path + "/").regionMatches(true, 0, prefix + "/", 0, prefix.length() + 1);
    }

    private static String inside(String prefix, String path) {
        return path.length() == prefix.length() ? "/" : path.substring(prefix.length());
    }

    private static boolean namesAddresses(Settings config) {
        Settings.Callers callers = config.callers();
        return !callers.denied().isEmpty()
                || !callers.exempt().addresses().isEmpty()
                || config.rules().stream()
                        .anyMatch(rule -> !rule.scope().exempt().addresses().isEmpty());
    }
}
