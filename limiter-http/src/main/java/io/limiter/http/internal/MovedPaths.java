package io.limiter.http.internal;

import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import java.util.Collection;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** Paths of rules that no request has, because something before the application moves its paths. As sentences for the log. */
public final class MovedPaths {
    private MovedPaths() {}

    /**
     * That rules begin with the path before all paths of the application, which is no part of theirs.
     *
     * @param prefix without a slash at its end
     */
    public static List<String> insidePrefix(String prefix, Collection<RuleDefinition> rules) {
        // A rule that also has the path without the prefix still limits.
        List<Lost> found = lost(
                rules,
                (rule, path) ->
                        beginsWith(prefix, path) && !rule.scope().paths().contains(inside(prefix, path)));
        return found.isEmpty()
                ? List.of()
                : List.of("RL-325 rules begin with the context path " + prefix + ": " + found
                        + ". Paths of rules do not include the context path, so they match no request; write "
                        + inside(prefix, found.get(0).path)
                        + " instead. Ignore this if the application has such paths inside");
    }

    /**
     * That rules have paths for which there is no servlet. The path of a servlet is a part of theirs.
     *
     * @param servlets the mappings of all that may answer
     * @param isAnswered whether something else answers requests for the path of a rule
     */
    public static List<String> outsideOfServlets(
            List<String> servlets, Collection<RuleDefinition> rules, Predicate<String> isAnswered) {
        String prefix = servlets.stream()
                .filter(mapping -> mapping.endsWith("/*"))
                .map(MovedPaths::fixed)
                .findFirst()
                .orElse("");
        List<Lost> found = prefix.isEmpty()
                ? List.of()
                : lost(
                        rules,
                        (rule, path) -> isOutside(servlets, path)
                                && !rule.scope().paths().contains(prefix + path)
                                && !isAnswered.test(path));
        return found.isEmpty()
                ? List.of()
                : List.of(
                        "RL-328 the servlets are mapped to " + servlets + ", so no request has the paths of the rules "
                                + found
                                + ". Paths of rules include that of a servlet; if one should answer there, write limiter.rules."
                                + found.get(0).rule + ".path = " + prefix + found.get(0).path
                                + " instead. Ignore this if a filter answers there");
    }

    /** That the filter does not get requests for the paths of rules. */
    public static List<String> outsideOfFilter(List<String> mappings, Collection<RuleDefinition> rules) {
        List<Lost> found = mappings.isEmpty() ? List.of() : lost(rules, (rule, path) -> isOutside(mappings, path));
        return found.isEmpty()
                ? List.of()
                : List.of("RL-328 the limiter's filter is mapped to " + mappings
                        + ", so it gets no request with the paths of the rules " + found + "; map it to /*");
    }

    private record Lost(String rule, String path) {
        @Override
        public String toString() {
            return rule + " (" + path + ")";
        }
    }

    private static List<Lost> lost(Collection<RuleDefinition> rules, BiPredicate<RuleDefinition, String> isLost) {
        return rules.stream()
                .filter(rule -> rule.mode() != Mode.OFF)
                .flatMap(rule -> rule.scope().paths().stream()
                        .filter(path -> isLost.test(rule, path))
                        .map(path -> new Lost(rule.name(), path)))
                .toList();
    }

    /** Whether none of these mappings of the Servlet specification may be for a request that the path of a rule matches. */
    private static boolean isOutside(List<String> mappings, String path) {
        String plain = path.split("[*{]", 2)[0];
        return mappings.stream()
                .noneMatch(mapping -> mapping.startsWith("*")
                        || (mapping.isEmpty() ? path.equals("/") : beginsWith(fixed(mapping), plain))
                        || (plain.length() < path.length()
                                && (mapping + "/").regionMatches(true, 0, plain, 0, plain.length())));
    }

    private static String fixed(String mapping) {
        return mapping.replaceFirst("/\\*?$", "");
    }

    /** Whether the path has these first segments. Ignores case, as rules may. */
    public static boolean beginsWith(String prefix, String path) {
        return (path + "/").regionMatches(true, 0, prefix + "/", 0, prefix.length() + 1);
    }

    private static String inside(String prefix, String path) {
        return path.length() == prefix.length() ? "/" : path.substring(prefix.length());
    }
}
