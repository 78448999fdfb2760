package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.Throttle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reserves, settles what was reserved, and counts what becomes of it. Thread-safe.
 *
 * <p>Who holds what: the backend that granted it, or the local share in its place, has the permits and a record with their end. The
 * caller has the {@link Hold}, with the right to its one settlement. Here are the open ones that this JVM made, only to be counted; and
 * settlements without an answer, which are tried again until their records end. That is safe, because only the first settlement of a
 * record has an effect: what a repetition finds ended, an attempt before it has settled.
 */
final class Reservations {
    /** Further open ones are not counted. */
    static final int MOST_OPEN = 100_000;

    /** Further settlements without an answer are lost at once. */
    static final int MOST_UNSETTLED = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(Reservations.class);
    private static final long LOG_EVERY_MICROS = 60_000_000;
    private static final long PAUSE_MICROS = 500_000;
    /** However many wait, the backend is asked 2 000 times a second at most. */
    private static final long PAUSE_FOR_EACH_MICROS = 500;

    private final Backend backend;
    private final FailureAnswers failures;
    private final Returns returns;
    private final Function<Policy, CallCounts> counts;
    private final WaitTimer timer;
    private final Duration keep;
    private final Map<HoldCount, Throttle> logThrottles = new ConcurrentHashMap<>();
    /** Those that are neither settled nor over. */
    private final Set<SettleableHold> open = ConcurrentHashMap.newKeySet();

    /** What is to be settled again, here until the next attempt begins. */
    private final Set<Unsettled> unsettled = ConcurrentHashMap.newKeySet();

    private volatile boolean isClosed;

    /** A hold with what its settlement needs; also a denied one, which is never open. */
    private static final class SettleableHold extends Hold {
        final HoldTerms terms;
        final long endMicros;
        final AtomicBoolean isSettled = new AtomicBoolean();
        /** Counts its end, unless it is cancelled before; null if it is not counted. */
        @Nullable
        Future<?> end;

        SettleableHold(Decision decision, HoldTerms terms, long nowMicros) {
            super(Access.LIBRARY, decision);
            this.terms = terms;
            this.endMicros = nowMicros + terms.ttlMicros();
        }
    }

    /**
     * The parts of a hold of which no settlement was answered.
     *
     * @param holder the backend that granted them
     * @param untilMicros until when their records are kept
     * @param isRepeated whether it was sent before, so that parts that have ended may have been settled by that
     */
    private record Unsettled(
            Backend holder,
            Decision parts,
            HoldTerms terms,
            ToLongFunction<? super Charge> actual,
            long untilMicros,
            boolean isRepeated) {
        Unsettled repeated(List<LimitOutcome> left) {
            Decision remaining = Decision.of(parts.source(), parts.charges(), left);
            return new Unsettled(holder, remaining, terms, actual, untilMicros, true);
        }
    }

    /** @param counts those of a policy */
    Reservations(
            Backend backend,
            FailureAnswers failures,
            Returns returns,
            Function<Policy, CallCounts> counts,
            WaitTimer timer,
            Duration keep) {
        this.backend = backend;
        this.failures = failures;
        this.returns = returns;
        this.counts = counts;
        this.timer = timer;
        this.keep = keep;
    }

    /**
     * Reserves all charges, or none. Charges of policies without holds are taken as usual.
     *
     * @param isBlocking whether this thread waits for the answer, so that the failure mode answers on it
     */
    CompletableFuture<Hold> reserve(List<Charge> given, Duration ttl, boolean isBlocking) {
        // Those that are reserved first: a command is a reservation if its first limit is.
        List<Charge> charges = PermitRequest.of(given).charges().stream()
                .sorted(Comparator.comparing(charge -> !isHeld(charge)))
                .toList();
        if (!isHeld(charges.get(0))) {
            String name = charges.get(0).policy().name();
            throw new IllegalArgumentException("policy '" + name + "' can't be reserved; write at least 1 permit, and"
                    + " limiter.policies." + name + ".holds = 1000, or withHolds(1000), for as many reservations of one"
                    + " key");
        }
        for (Charge charge : charges) {
            if (isHeld(charge) && !charge.isPlain()) {
                throw new IllegalArgumentException("a reservation of policy '"
                        + charge.policy().name() + "' with a request id or a member; write it without them");
            }
        }
        HoldTerms terms = HoldTerms.of(ttl, keep);
        CompletableFuture<Decision> answer = FailureAnswers.futureOf(() -> backend.reserve(charges, terms));
        if (isBlocking) {
            answer.handle((decision, failed) -> failed).join();
        }
        return failures.orAnswer(charges, Backend.Mode.TAKE, answer, terms)
                .thenApply(decision -> hold(decision, terms));
    }

    private static boolean isHeld(Charge charge) {
        return charge.policy().holds() > 0 && charge.permits() > 0;
    }

    private Hold hold(Decision decision, HoldTerms terms) {
        // What was taken is settled instead.
        decision.claimRefund(Access.LIBRARY);
        SettleableHold hold = new SettleableHold(decision, terms, timer.nowMicros());
        if (decision.allowed() && !decision.outcomes().isEmpty() && !isClosed && open.size() < MOST_OPEN) {
            open.add(hold);
            countHeld(hold, 1);
            hold.end = timer.schedule(() -> expired(hold), terms.ttlMicros());
        }
        for (LimitOutcome denied : decision.violated()) {
            if (denied.reason() == DenialReason.HOLDS_FULL) {
                warn(
                        denied.policy(),
                        HoldCount.FULL,
                        "RL-410",
                        "a key has as many reservations as are kept, "
                                + denied.policy().holds()
                                + ", so another one was denied; raise 'holds', or shorten their time");
            }
        }
        return hold;
    }

    /** @param sign -1 for one that has ended */
    private void countHeld(SettleableHold hold, int sign) {
        heldCharges(hold)
                .forEach(charge -> counts.apply(charge.policy()).add(CallCounts.HELD, sign * charge.permits()));
    }

    private void expired(SettleableHold hold) {
        if (open.remove(hold)) {
            countHeld(hold, -1);
            heldCharges(hold).forEach(charge -> add(charge.policy(), HoldCount.EXPIRED, 1));
        }
    }

    /** It is not counted at its end any more; returns whether it would have been. */
    private boolean close(SettleableHold hold) {
        if (hold.end != null) {
            hold.end.cancel(false);
        }
        return open.remove(hold);
    }

    private static Stream<Charge> heldCharges(Hold hold) {
        return hold.decision().charges().stream().filter(Reservations::isHeld);
    }

    CompletableFuture<Settlement> settle(Hold given, ToLongFunction<? super Charge> actual) {
        SettleableHold hold = (SettleableHold) given;
        Decision decision = hold.decision();
        List<Charge> charges = decision.charges();
        // Before the claim: if the application's code fails, it may settle again.
        long[] costs = charges.stream().mapToLong(actual).toArray();
        if (!hold.isSettled.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(Settlement.ENDED);
        }
        boolean wasOpen = close(hold);
        Settlement worst = Settlement.SETTLED;
        for (int i = 0; i < costs.length; i++) {
            if (isHeld(charges.get(i)) && (costs[i] < 0 || costs[i] > Integer.MAX_VALUE)) {
                ignore(charges.get(i).policy(), costs[i]);
                costs[i] = charges.get(i).permits();
                worst = Settlement.IGNORED;
            }
        }
        // An outcome's charge may be under another policy of that name.
        ToLongFunction<Charge> cost = charge -> IntStream.range(0, costs.length)
                .filter(i -> charges.get(i).isToSame(charge))
                .mapToLong(i -> costs[i])
                .findFirst()
                .orElse(charge.permits());
        if (!decision.allowed()) {
            return CompletableFuture.completedFuture(worst);
        }
        returns.refund(
                decision.source(),
                decision.outcomes().stream()
                        .filter(one -> !isHeld(one.charge()) && cost.applyAsLong(one.charge()) == 0)
                        .toList());
        // Not those of penalties and of policies without holds.
        List<LimitOutcome> held = decision.outcomes().stream()
                .filter(one -> isHeld(one.charge()) && one.limit().algorithm().takesHolds())
                .toList();
        CompletableFuture<Settlement> settlement =
                held.isEmpty() ? CompletableFuture.completedFuture(worst) : send(hold, held, cost, worst);
        // Counted as held until it is charged: a reader that finds nothing held must find the actual cost.
        return wasOpen ? settlement.whenComplete((made, failed) -> countHeld(hold, -1)) : settlement;
    }

    private void ignore(Policy policy, long cost) {
        if (cost == HoldTerms.UNREPORTED) {
            add(policy, HoldCount.IGNORED, 1);
        } else {
            warn(
                    policy,
                    HoldCount.IGNORED,
                    "RL-414",
                    cost + " is no actual cost from 0 to " + Integer.MAX_VALUE
                            + " (-1: there was none), so the estimate stays");
        }
    }

    private CompletableFuture<Settlement> send(
            SettleableHold hold, List<LimitOutcome> held, ToLongFunction<Charge> cost, Settlement floor) {
        Decision.Source source = hold.decision().source();
        List<Charge> charges =
                held.stream().map(LimitOutcome::charge).distinct().toList();
        Decision parts = Decision.of(source, charges, held);
        long untilMicros = hold.endMicros + hold.terms.keepMicros();
        Unsettled first = new Unsettled(returns.holder(source), parts, hold.terms, cost, untilMicros, false);
        return settle(first).thenApply(answers -> {
            returns.wake(charges);
            return answers.stream().map(Backend.Settled::settlement).reduce(floor, Settlement::worse);
        });
    }

    /** What became of each part, which is counted; those without an answer are settled again. Never fails. */
    private CompletableFuture<List<Backend.Settled>> settle(Unsettled one) {
        List<LimitOutcome> parts = one.parts.outcomes();
        return FailureAnswers.futureOf(() -> one.holder.settle(one.parts, one.terms, one.actual))
                .exceptionally(failed -> {
                    Backend.Settled each = Backend.Settled.failed(failed);
                    return parts.stream().map(none -> each).toList();
                })
                .thenApply(answers -> {
                    List<LimitOutcome> left = new ArrayList<>();
                    for (int i = 0; i < parts.size(); i++) {
                        if (answers.get(i).settlement() == Settlement.PENDING) {
                            left.add(parts.get(i));
                        } else {
                            count(one, parts.get(i), answers.get(i));
                        }
                    }
                    if (!left.isEmpty()) {
                        settleAgain(one.repeated(left));
                    }
                    return answers;
                });
    }

    private void settleAgain(Unsettled left) {
        if (isClosed || unsettled.size() >= MOST_UNSETTLED || left.untilMicros <= timer.nowMicros()) {
            lost(left);
            return;
        }
        unsettled.add(left);
        timer.schedule(
                () -> {
                    if (unsettled.remove(left)) {
                        settle(left);
                    }
                },
                Math.max(PAUSE_MICROS, unsettled.size() * PAUSE_FOR_EACH_MICROS));
    }

    private void count(Unsettled sent, LimitOutcome part, Backend.Settled answer) {
        Policy policy = part.policy();
        add(policy, HoldCount.FORGOTTEN, answer.forgotten());
        BackendException refused = answer.refused();
        if (refused != null) {
            lost(policy, "a settlement was refused, so its actual cost is not charged: " + refused.getMessage());
        } else if (answer.settlement() == Settlement.ENDED && !sent.isRepeated) {
            warn(
                    policy,
                    HoldCount.UNKNOWN,
                    "RL-412",
                    "there is no record of a hold any more, so its actual cost was not charged: "
                            + (timer.nowMicros() < sent.untilMicros
                                    ? "it was reset, or Redis has lost it"
                                    : "settle sooner, or raise limiter.holds.keep"));
        } else if (isFirst(part)
                && sent.actual.applyAsLong(part.charge()) > part.charge().permits()) {
            add(policy, HoldCount.ABOVE_ESTIMATE, 1);
        }
    }

    /** Once for each charge, however many limits it has. */
    private static boolean isFirst(LimitOutcome part) {
        return part.policy().limits().stream()
                .filter(limit -> limit.algorithm().takesHolds())
                .limit(1)
                .anyMatch(part.limit()::equals);
    }

    private void lost(Unsettled settlement) {
        lost(
                settlement.parts.outcomes().get(0).policy(),
                "a settlement did not reach Redis before the record of its hold ended, or more than " + MOST_UNSETTLED
                        + " waited; what was reserved came back, and the actual cost is not charged");
    }

    private void lost(Policy policy, String text) {
        warn(policy, HoldCount.LOST, "RL-411", text);
    }

    private void add(Policy policy, HoldCount what, long number) {
        if (number > 0) {
            counts.apply(policy).add(CallCounts.number(what), number);
        }
    }

    /** Counts one, and logs it, at most once a minute for each kind. */
    private void warn(Policy policy, HoldCount what, String code, String text) {
        add(policy, what, 1);
        Throttle throttle = logThrottles.computeIfAbsent(what, one -> new Throttle(timer::nowMicros, LOG_EVERY_MICROS));
        if (throttle.tryPass()) {
            LOG.warn(
                    "{} policy '{}': {}; {} so far; logged again in 60 s at the earliest",
                    code,
                    policy.name(),
                    text,
                    counts.apply(policy).sum(CallCounts.number(what)));
        }
    }

    /** Settlements that still wait are reported as lost. */
    void close() {
        isClosed = true;
        open.forEach(this::close);
        List.copyOf(unsettled).stream().filter(unsettled::remove).forEach(this::lost);
    }
}
