package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.Throttle;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The answers of a limiter whose backend can't decide. Thread-safe. */
final class FailureAnswers {
    private static final Logger LOG = LoggerFactory.getLogger("io.limiter.engine.BackendRateLimiter");
    private static final long WARN_EVERY_MICROS = 10_000_000;
    private static final int LAST_SHARED = 256;
    private static final int FAILURE_MODES = FailureMode.values().length;

    private final @Nullable Backend fallback;
    private final long instances;
    private final EngineMonitor counters;
    private final Executor executor;
    /** By what failed and what answered. */
    private final Throttle[] warnings;
    /** The failures that were logged last, in the same places. One that is always the same belongs to an outage, which is a flood. */
    private final @Nullable BackendException[] logged =
            new BackendException[BackendException.Kind.values().length * FAILURE_MODES];
    /**
     * The shares of the policies that were asked for last, by identity. Bounded, as an application may make a policy for each call.
     * Read without synchronization: a thread that sees an old entry, or none, makes its own.
     */
    private final @Nullable Share[] lastShared = new Share[LAST_SHARED];

    /** An instance's part of a policy, and what decides by it. */
    private record Share(Policy of, Policy part, Backend.Decider decider) {}

    /** @param executor runs those that come after a failure that nobody waits for */
    FailureAnswers(
            @Nullable Backend fallback, long instances, EngineMonitor counters, TimeSource time, Executor executor) {
        this.warnings = Stream.generate(() -> new Throttle(time::nowMicros, WARN_EVERY_MICROS))
                .limit(logged.length)
                .toArray(Throttle[]::new);
        this.fallback = fallback;
        this.instances = instances;
        this.counters = counters;
        this.executor = executor;
    }

    /**
     * The answer of the failure mode of the policies. Never fails.
     *
     * @param terms of a reservation, which the local share makes then; null for none
     */
    Decision answer(List<Charge> charges, Backend.Mode mode, Throwable thrown, @Nullable HoldTerms terms) {
        FailureMode strictest = FailureMode.ALLOW;
        boolean asksNothing = true;
        for (Charge charge : charges) {
            strictest = stricter(strictest, charge.policy().onFailure());
            asksNothing &= charge.permits() == 0;
        }
        FailureMode answering = answering(strictest, thrown);
        if (answering == FailureMode.LOCAL && fallback != null) {
            try {
                return local(fallback, charges, mode, terms).asLocalFallback(charges);
            } catch (RuntimeException alsoFailed) {
                LOG.debug("the local fallback failed too", alsoFailed);
            }
        }
        // A call that asks for nothing is always allowed.
        boolean open = answering == FailureMode.ALLOW || asksNothing;
        return Decision.of(open ? Decision.Source.FAILED_OPEN : Decision.Source.FAILED_CLOSED, charges, List.of());
    }

    private Decision local(Backend local, List<Charge> charges, Backend.Mode mode, @Nullable HoldTerms terms) {
        Charge first = charges.get(0);
        if (terms == null && charges.size() == 1 && first.isPlain()) {
            // On a shorter path: an outage is when no processor is to spare.
            return share(local, first.policy()).decider.decideNow(first.key(), first.permits(), mode);
        }
        List<Charge> parts = charges.stream()
                .map(charge -> under(share(local, charge.policy()).part, charge))
                .toList();
        return terms == null
                ? local.decideNow(parts, mode)
                : local.reserve(parts, terms).toCompletableFuture().join();
    }

    /** The same charge to another policy of that name. */
    static Charge under(Policy other, Charge charge) {
        return other == charge.policy()
                ? charge
                : new Charge(other, charge.key(), charge.permits(), charge.requestId(), charge.member());
    }

    private static FailureMode stricter(FailureMode one, FailureMode other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    /** The mode that answers, which is counted and logged. */
    private FailureMode answering(FailureMode strictest, Throwable thrown) {
        BackendException failure = BackendException.of(thrown);
        counters.failed(failure.kind());
        boolean late = failure.kind() == BackendException.Kind.LATE && fallback != null;
        // A client that overloads this JVM must not escape the limits that way.
        boolean atLeastLocal = late || failure.kind() == BackendException.Kind.OVERLOADED;
        FailureMode answering = atLeastLocal ? stricter(strictest, FailureMode.LOCAL) : strictest;
        warn(answering, failure);
        return answering;
    }

    private Share share(Backend local, Policy policy) {
        int slot = System.identityHashCode(policy) & LAST_SHARED - 1;
        Share known = lastShared[slot];
        if (known == null || known.of != policy) {
            Policy part = policy.share(instances);
            known = new Share(policy, part, local.decider(part));
            lastShared[slot] = known;
        }
        return known;
    }

    /**
     * Logs the failure, rate-limited for each kind and each mode that answers: an outage must not fill the disk with
     * logs, and must show each mode that answers.
     */
    private void warn(FailureMode answer, BackendException failure) {
        int place = failure.kind().ordinal() * FAILURE_MODES + answer.ordinal();
        Throttle throttle = warnings[place];
        if (logged[place] == failure ? throttle.tryPassOften() : throttle.tryPass()) {
            logged[place] = failure;
            long times = counters.failures(failure.kind());
            boolean fault = failure.kind() == BackendException.Kind.FAULT;
            LOG.atLevel(fault ? Level.ERROR : Level.WARN)
                    .log(
                            "{}; failure mode {} answers; {} so far for such a reason; logged again in {} s at the"
                                    + " earliest",
                            failure.getMessage(),
                            answer.text(),
                            times == 1 ? "once" : times + " times",
                            WARN_EVERY_MICROS / 1_000_000);
            // The message of the cause may contain keys, which are client data: debug only.
            LOG.debug("the failure behind it", failure);
        }
    }

    /** The answer of a backend. What the call throws fails the future, also an error: others wait in a queue behind it. */
    static <T> CompletableFuture<T> futureOf(Supplier<? extends CompletionStage<T>> call) {
        try {
            return call.get().toCompletableFuture();
        } catch (Throwable failed) {
            return CompletableFuture.failedFuture(failed);
        }
    }

    /** The answer of the backend or, if it fails, of the failure mode: {@link #answer}. */
    CompletableFuture<Decision> orAnswer(
            List<Charge> charges, Backend.Mode mode, CompletableFuture<Decision> answered, @Nullable HoldTerms terms) {
        Function<Throwable, Decision> own = failure -> answer(charges, mode, failure, terms);
        // Not on the completing thread: that may be the one timer for the deadlines of all others.
        return answered.isDone() ? answered.exceptionally(own) : answered.exceptionallyAsync(own, executor);
    }
}
