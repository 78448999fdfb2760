package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.CountedOutcomes;
import io.limiter.internal.config.RequestCost.ActualCost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a rule charges a request that it counts. The {@link RequestLedger} records it, and asks here at the end of the request
 * what is given back or settled.
 *
 * @param charge null as long as it is pending
 * @param pending how it gets its policy; null if it has it
 */
record RuleCharge(
        Terms rule, @Nullable Charge charge, @Nullable Pending pending) {
    private static final Logger LOG = LoggerFactory.getLogger(RuleCharge.class);
    private static final Throttle MISSING_LOG = Throttle.hourly(TimeSource.system()::nowMicros);

    /**
     * How a request ends.
     *
     * @param isLeft whether its client has left before
     * @param status of the response; 0 if there is none
     * @param headers returns the lines of a header of the response
     * @param attributes returns an attribute of the request; null if it is missing
     */
    record End(
            boolean isLeft,
            int status,
            Function<String, Collection<String>> headers,
            Function<String, @Nullable Object> attributes) {
        boolean isCompleted() {
            return !isLeft && status > 0 && status < SERVER_ERROR;
        }
    }

    private static final int SERVER_ERROR = 500;

    /**
     * What all charges of a rule have in common.
     *
     * @param name empty for a rule in code
     * @param identity of the rule, the same in each configuration that has it
     * @param outcomes which responses keep the charge; null for all
     * @param actual where the application tells the cost, if the charge is an estimate; null if it is final
     * @param maxWait how long the request may wait if a limit denies the charge; null for a rule in code, which leaves
     *     that to the others
     * @param givenBack how many of the first charges were given back; above {@value #FIRST} if one was not
     */
    record Terms(
            String name,
            Object identity,
            boolean isShadow,
            @Nullable CountedOutcomes outcomes,
            @Nullable ActualCost actual,
            @Nullable Duration maxWait,
            AtomicInteger givenBack) {
        private static final int FIRST = 100;

        /** Those of a rule in code: its charge is final, whatever the response. */
        static Terms ofCode(Object identity) {
            return new Terms("", identity, false, null, null, null, new AtomicInteger());
        }

        private boolean keeps(End end) {
            return outcomes == null || outcomes.keeps(end.status, end.headers, end.attributes);
        }

        /** Notes what became of a charge. Logs if none of the first ones was kept. */
        private void note(boolean isKept) {
            if (outcomes == null || givenBack.get() > FIRST) {
                return;
            }
            if (isKept) {
                givenBack.set(FIRST + 1);
            } else if (givenBack.incrementAndGet() == FIRST) {
                LOG.warn(
                        "RL-340 rule '{}' has given back each of its first {} charges, so it has limited nothing: {}"
                                + " response had an outcome of {}. A login by a form answers with 302: see"
                                + " header:Location. Logged once",
                        name,
                        FIRST,
                        outcomes.counted() ? "no" : "each",
                        outcomes);
            }
        }
    }

    /**
     * A charge that depends on a plan, which is looked up first.
     *
     * @param lookup begins the lookup; its result never completes exceptionally
     * @param charge makes the charge when the lookup has ended; null if it can't be made
     */
    record Pending(Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {}

    /** Whether it charges the same policy for the same key and member. */
    boolean isToSame(Charge other) {
        return charge != null && charge.isToSame(other);
    }

    /** Whether one of them is to the same policy, key and member. */
    static boolean isIn(List<Charge> all, Charge charge) {
        return all.stream().anyMatch(charge::isToSame);
    }

    /** One more; the list may be the same one. Nearly always it is the only one. */
    static List<RuleCharge> with(RuleCharge rule, List<RuleCharge> before) {
        if (before.isEmpty()) {
            return List.of(rule);
        }
        List<RuleCharge> all = before.size() > 1 ? before : new ArrayList<>(before);
        all.add(rule);
        return all;
    }

    /** Those of the rules that charge it; nearly always there is one, and it does. */
    static List<RuleCharge> toSame(List<RuleCharge> rules, Charge charge) {
        return rules.size() == 1 && rules.get(0).isToSame(charge)
                ? rules
                : rules.stream().filter(one -> one.isToSame(charge)).toList();
    }

    /** Whether a response gives back a charge: only if all rules that have made it agree. Each rule notes what became of it. */
    static boolean areBack(List<RuleCharge> makers, End end) {
        boolean isBack = !makers.isEmpty();
        for (RuleCharge one : makers) {
            isBack = isBack && !one.rule.keeps(end);
        }
        for (RuleCharge one : makers) {
            one.rule.note(!isBack);
        }
        return isBack;
    }

    /**
     * The most that one of the rules says. Where nobody has told a cost the estimate stays: -1 if the response was complete, so that
     * this is a mistake of the application; else {@link HoldTerms#UNREPORTED}.
     */
    static long actual(Charge charge, List<RuleCharge> rules, End end) {
        long[] costs =
                toSame(rules, charge).stream().mapToLong(one -> one.actual(end)).toArray();
        long most = Arrays.stream(costs).max().orElse(charge.permits());
        boolean isMissing = most <= charge.permits() && Arrays.stream(costs).anyMatch(cost -> cost < 0);
        return !isMissing ? most : end.isCompleted() ? -1 : HoldTerms.UNREPORTED;
    }

    private long actual(End end) {
        long estimate = Objects.requireNonNull(charge).permits();
        ActualCost actual = rule.actual;
        if (actual == null) {
            return estimate;
        }
        long cost = actual.of(end.headers, end.attributes);
        if (cost >= 0) {
            return cost;
        }
        long assumed = actual.assumed(end.isLeft);
        if (assumed < 0 || assumed == estimate) {
            return -1;
        }
        if (end.isCompleted() && MISSING_LOG.tryPass()) {
            LOG.warn(
                    "RL-414 nobody told the cost of a request by {}, so it is charged {} instead of its estimate of"
                            + " {}. Logged once an hour",
                    actual,
                    assumed,
                    estimate);
        }
        return assumed;
    }
}
