package io.limiter.internal.config;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which requests a rule applies to. Immutable.
 *
 * @param paths the paths that it matches, at least one: exact ({@code /login}), everything below ({@code /api/*}, which
 *     also matches {@code /api}), with variables that match one segment ({@code /users/{id}}), with any number of segments
 *     between two others ({@code /api/**&#47;export})
 * @param methods the HTTP methods that it matches, in upper case; one that is not registered has the prefix {@code ext:};
 *     empty for all
 * @param headers the headers that the request must have, all of them
 * @param query the parameters that its query must have, all of them
 * @param except paths of the rule that it does not count, written as its paths
 * @param exempt callers that it does not count
 * @param isDefault whether the rule applies only to requests that no other rule matches
 */
public record RuleScope(
        List<String> paths,
        Set<String> methods,
        List<RequestCondition> headers,
        List<RequestCondition> query,
        List<String> except,
        CallerMatcher exempt,
        boolean isDefault) {
    /** Copies the collections, and writes the methods in upper case. */
    public RuleScope {
        paths = List.copyOf(paths);
        methods = methods.stream().map(MethodText::canonical).collect(Collectors.toUnmodifiableSet());
        headers = List.copyOf(headers);
        query = List.copyOf(query);
        except = List.copyOf(except);
    }

    /** The scope of the properties below a key; a default rule without paths matches all. */
    static RuleScope read(PropertyReader reader, String rule, String here) {
        boolean isDefault = reader.yes(here + "default");
        List<String> written = reader.words(here + "path");
        List<String> paths = written.isEmpty() && isDefault ? List.of("/*") : written;
        List<String> methods = reader.words(here + "methods");
        List<String> except = reader.words(here + "except");
        reader.must(
                here + "path",
                !paths.isEmpty(),
                "RL-105 rule '" + rule + "' has no path; add " + here + "path = /api/* (every path is written /*)");
        reader.check(here + "path", () -> PathText.check(paths));
        reader.check(here + "methods", () -> MethodText.check(methods));
        reader.check(here + "except", () -> PathText.checkExempt(except));
        return new RuleScope(
                paths,
                Set.copyOf(methods),
                conditions(reader, here + "headers"),
                conditions(reader, here + "query"),
                except,
                CallerMatcher.read(reader, here + "exempt."),
                isDefault);
    }

    private static List<RequestCondition> conditions(PropertyReader reader, String key) {
        return reader.read(key, List.of(), text -> LimitText.each(LimitText.items(text), RequestCondition::parse));
    }

    /** The methods without the prefix of extensions. */
    public Set<String> methodNames() {
        return methods.stream().map(MethodText::name).collect(Collectors.toUnmodifiableSet());
    }
}
