package io.limiter.config;

import java.util.List;

/**
 * Which requests a rule applies to, besides its paths and methods. Immutable.
 *
 * @param headers the headers that the request must have, all of them
 * @param query the parameters that its query must have, all of them
 * @param except paths of the rule that it does not count, written as {@link RuleDefinition#paths}
 * @param exempt callers that it does not count
 * @param isDefault whether the rule applies only to requests that no other rule matches
 */
public record RuleScope(
        List<RequestCondition> headers,
        List<RequestCondition> query,
        List<String> except,
        Callers exempt,
        boolean isDefault) {
    /** Every request of its paths and methods. */
    public static final RuleScope ALL = new RuleScope(List.of(), List.of(), List.of(), Callers.NONE, false);

    /** Copies the lists. */
    public RuleScope {
        headers = List.copyOf(headers);
        query = List.copyOf(query);
        except = List.copyOf(except);
    }

    /** The scope of the properties below a key. */
    static RuleScope read(Entries entries, String here) {
        return new RuleScope(
                conditions(entries, here + "headers"),
                conditions(entries, here + "query"),
                entries.words(here + "except"),
                Callers.read(entries, here + "exempt."),
                entries.yes(here + "default", false));
    }

    private static List<RequestCondition> conditions(Entries entries, String key) {
        return entries.read(key, List.of(), text -> LimitText.each(LimitText.items(text), RequestCondition::parse));
    }
}
