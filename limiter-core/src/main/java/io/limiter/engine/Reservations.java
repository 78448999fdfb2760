package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DenialReason;
import io.limiter.Hold;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.Settlement;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Reserves, and settles what was reserved, under the limits that are in force then. Thread-safe. */
final class Reservations {
    private final Backend backend;
    private final @Nullable Backend fallback;
    private final FailureAnswers failures;
    private final Refunds refunds;
    private final WaitQueues waiting;
    private final WaitTimer timer;
    private final Duration keep;
    private final HoldCounts counts;
    private final Unsettled unsettled;
    /** What was announced, by name. */
    private final Map<String, Policy> policies = new ConcurrentHashMap<>();

    /** A charge, and what it has cost. */
    private record Cost(Charge charge, long actual) {}

    Reservations(
            Backend backend,
            @Nullable Backend fallback,
            FailureAnswers failures,
            Refunds refunds,
            WaitQueues waiting,
            WaitTimer timer,
            HoldCounts counts,
            Duration keep) {
        this.backend = backend;
        this.fallback = fallback;
        this.failures = failures;
        this.refunds = refunds;
        this.waiting = waiting;
        this.timer = timer;
        this.counts = counts;
        this.keep = keep;
        this.unsettled = new Unsettled(timer, counts);
    }

    /** The policy is in force from now on. */
    void announce(Policy policy) {
        if (policy.holds() > 0) {
            policies.put(policy.name(), policy);
        } else {
            policies.remove(policy.name());
        }
    }

    /** Takes all of it, or nothing. Charges of policies without holds are taken as usual. */
    CompletableFuture<Hold> reserve(List<Charge> given, Duration ttl) {
        // Those that are reserved first: a command is a reservation if its first limit is.
        List<Charge> charges = PermitRequest.of(given).charges().stream()
                .sorted(Comparator.comparing(charge -> charge.policy().holds() == 0))
                .toList();
        check(charges.get(0), charges.stream().noneMatch(Reservations::isHeld));
        charges.stream().filter(Reservations::isHeld).forEach(one -> check(one, !one.isPlain()));
        HoldTerms terms = HoldTerms.of(ttl, keep);
        List<Policy> announced = charges.stream()
                .map(charge -> policies.get(charge.policy().name()))
                .filter(Objects::nonNull)
                .toList();
        CompletableFuture<Decision> asked;
        try {
            asked = backend.reserve(charges, terms).toCompletableFuture();
        } catch (RuntimeException failed) {
            asked = CompletableFuture.failedFuture(failed);
        }
        return asked.exceptionally(failed -> failures.answer(charges, Backend.Mode.TAKE, failed, terms))
                .thenApply(decision -> made(decision, terms, announced));
    }

    private static boolean isHeld(Charge charge) {
        return charge.policy().holds() > 0 && charge.permits() > 0;
    }

    private static void check(Charge charge, boolean isWrong) {
        if (!isWrong) {
            return;
        }
        String name = charge.policy().name();
        if (charge.policy().holds() == 0) {
            throw new IllegalArgumentException("policy '" + name + "' can't be reserved; write limiter.policies." + name
                    + ".holds = 1000, or withHolds(1000), for as many reservations of one key");
        }
        throw new IllegalArgumentException("a reservation of " + charge.permits() + " permits of policy '" + name + "'"
                + (charge.isPlain() ? "" : " with a request id or a member")
                + "; write at least 1 permit, without them");
    }

    private Hold made(Decision decision, HoldTerms terms, List<Policy> announced) {
        // What was taken is settled instead.
        decision.claimRefund(Access.LIBRARY);
        long end = timer.nowMicros() + terms.ttlMicros();
        if (decision.allowed() && !decision.outcomes().isEmpty()) {
            decision.charges().stream()
                    .filter(Reservations::isHeld)
                    .forEach(charge -> counts.begin(terms.id(), charge, end));
        }
        for (LimitOutcome denied : decision.violated()) {
            if (denied.reason() == DenialReason.HOLDS_FULL) {
                counts.warn(
                        denied.policy().name(),
                        HoldCount.FULL,
                        "RL-410",
                        "a key has as many reservations as are kept, "
                                + denied.policy().holds()
                                + ", so another one was denied; raise 'holds', or shorten their time");
            }
        }
        return new Hold(Access.LIBRARY, decision, terms, announced, end + terms.keepMicros());
    }

    /** The outcomes that are settled: not those of penalties and of policies without holds, and none of what was denied. */
    private static List<LimitOutcome> held(Decision decision) {
        return !decision.allowed()
                ? List.of()
                : decision.outcomes().stream()
                        .filter(outcome -> isHeld(outcome.charge())
                                && outcome.limit().spec().algorithm().takesHolds())
                        .toList();
    }

    CompletableFuture<Settlement> settle(Hold hold, ToLongFunction<? super Charge> actual) {
        Decision decision = hold.decision();
        List<LimitOutcome> held = held(decision);
        Settlement worst = Settlement.SETTLED;
        List<Charge> charges = decision.charges();
        // Before the claim: if the application's code fails, it may settle again.
        long[] told = charges.stream().mapToLong(actual).toArray();
        if (!hold.claimSettlement(Access.LIBRARY)) {
            return CompletableFuture.completedFuture(Settlement.ENDED);
        }
        List<Cost> costs = new ArrayList<>();
        List<Charge> back = new ArrayList<>(0);
        for (int i = 0; i < told.length; i++) {
            Charge charge = charges.get(i);
            long cost = told[i];
            if (!isHeld(charge)) {
                if (cost == 0) {
                    back.add(charge);
                }
                continue;
            }
            if (cost < 0 || cost > Integer.MAX_VALUE) {
                String name = charge.policy().name();
                if (cost == HoldTerms.UNTOLD) {
                    counts.add(name, HoldCount.IGNORED, 1);
                } else {
                    counts.warn(
                            name,
                            HoldCount.IGNORED,
                            "RL-414",
                            cost + " is no actual cost from 0 to " + Integer.MAX_VALUE
                                    + " (-1: there was none), so the estimate stays");
                }
                cost = charge.permits();
                worst = worst.worse(Settlement.IGNORED);
            }
            costs.add(new Cost(charge, cost));
        }
        if (decision.allowed() && !back.isEmpty()) {
            refund(decision, back);
        }
        if (held.isEmpty()) {
            return CompletableFuture.completedFuture(worst);
        }
        return send(hold, held, costs, worst);
    }

    /** Gives back what was taken beside the estimates. */
    private void refund(Decision decision, List<Charge> back) {
        List<LimitOutcome> taken = decision.outcomes().stream()
                .filter(outcome -> back.stream().anyMatch(outcome.charge()::isToSame))
                .toList();
        refunds.give(List.of(Decision.of(decision.source(), back, taken)), charge -> true);
    }

    private CompletableFuture<Settlement> send(Hold hold, List<LimitOutcome> held, List<Cost> costs, Settlement floor) {
        Decision decision = hold.decision();
        HoldTerms terms = hold.terms(Access.LIBRARY);
        boolean isLocal = decision.source() == Decision.Source.LOCAL_FALLBACK;
        Backend holder = isLocal && fallback != null ? fallback : backend;
        List<LimitOutcome> now =
                isLocal ? held : held.stream().map(part -> inForce(hold, part)).toList();
        List<Charge> charges = now.stream().map(LimitOutcome::charge).distinct().toList();
        ToLongFunction<Charge> actual = charge -> costs.stream()
                .filter(cost -> cost.charge.isToSame(charge))
                .findFirst()
                .map(Cost::actual)
                .orElse(charge.permits());
        Unsettled.Pending sent = new Unsettled.Pending(
                holder,
                Decision.of(decision.source(), charges, now),
                terms,
                actual,
                hold.keptUntilMicros(Access.LIBRARY),
                false);
        return sent.settle().thenApply(answers -> {
            Settlement worst = floor;
            for (Backend.Settled answer : answers) {
                worst = worst.worse(answer.settlement());
            }
            Unsettled.Pending left = sent.left(answers, counts, timer.nowMicros());
            if (!left.parts().outcomes().isEmpty()) {
                unsettled.add(left);
            }
            for (Cost cost : costs) {
                counts.end(terms.id(), cost.charge);
                waiting.wake(cost.charge.policy(), cost.charge.key());
            }
            return worst;
        });
    }

    /**
     * The same part under the limits that are in force now, if that limit is still there and grants anything. Not where others
     * than those of the policy decided: of an override, or of a tenant.
     */
    private LimitOutcome inForce(Hold hold, LimitOutcome then) {
        Policy now = policies.get(then.policy().name());
        if (now == null || now == then.policy() || !hold.wasAnnounced(Access.LIBRARY, then.policy())) {
            return then;
        }
        return now.limits().stream()
                .filter(limit -> limit.permits() > 0
                        && limit.spec().algorithm() == then.limit().spec().algorithm()
                        && limit.spec().identity().equals(then.limit().spec().identity()))
                .findFirst()
                .map(limit -> LimitOutcome.of(
                        FailureAnswers.under(now, then.charge()), limit, true, 0, 0, 0, 0, then.stampMicros()))
                .orElse(then);
    }

    void close() {
        unsettled.close();
    }
}
