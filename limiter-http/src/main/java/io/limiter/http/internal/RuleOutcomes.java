package io.limiter.http.internal;

import io.limiter.internal.config.CountedOutcomes;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which responses keep the charges of a rule. Logs if they have kept none of the first ones. Thread-safe. */
final class RuleOutcomes {
    private static final Logger LOG = LoggerFactory.getLogger(RuleOutcomes.class);
    private static final int FIRST = 100;

    /** Every response keeps the charge. */
    static final RuleOutcomes ALL = new RuleOutcomes("", null);

    private final String rule;
    private final @Nullable CountedOutcomes outcomes;
    private final AtomicInteger givenBack = new AtomicInteger();
    private volatile boolean hasKept;

    /** @param outcomes null for all */
    RuleOutcomes(String rule, @Nullable CountedOutcomes outcomes) {
        this.rule = rule;
        this.outcomes = outcomes;
    }

    /** Whether a response keeps the charge. */
    boolean keeps(
            int status, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        return outcomes == null || outcomes.keeps(status, headers, attributes);
    }

    /** Notes what became of a charge. */
    void note(boolean isKept) {
        if (isKept && !hasKept) {
            hasKept = true;
        }
        if (!hasKept && outcomes != null && givenBack.incrementAndGet() == FIRST) {
            LOG.warn(
                    "RL-340 rule '{}' has given back each of its first {} charges, so it has limited nothing: {} response had"
                            + " an outcome of {}. A login by a form answers with 302: see header:Location. Logged once",
                    rule,
                    FIRST,
                    outcomes.counted() ? "no" : "each",
                    outcomes);
        }
    }
}
