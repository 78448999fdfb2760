package io.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The limiter on a backend: checks the charges, calls the backend, and answers by failure mode when the backend can't. */
final class BackendRateLimiter implements RateLimiter {
    private static final int LAST_ASKED = 256;

    private final Backend backend;
    private final @Nullable Backend fallback;
    private final List<Backend> both;
    private final Executor executor;
    private final Counters counters = new Counters();
    private final Denials denials = new Denials(TimeSource.system());
    /**
     * The policies that were used last, found by identity, without the hash of a name. Read without synchronization: a
     * thread that sees an old entry, or none, makes its own.
     */
    private final @Nullable Asked[] lastAsked = new Asked[LAST_ASKED];

    private final FailureAnswers failures;
    private final Refunds refunds;
    private final WaitQueues waiting;

    /** What a call to a policy needs. */
    private record Asked(Policy policy, Backend.Decider decider, Counters.Row row) {}

    BackendRateLimiter(
            Backend backend,
            @Nullable Backend fallback,
            long instances,
            Executor executor,
            int maxWaiting,
            WaitTimer timer) {
        this.backend = backend;
        this.fallback = fallback;
        this.both = fallback == null ? List.of(backend) : List.of(backend, fallback);
        this.failures = new FailureAnswers(fallback, instances, counters, timer::nowMicros);
        this.executor = executor;
        this.waiting = new WaitQueues(
                timer,
                maxWaiting,
                executor,
                this::askUncounted,
                decision -> counted(decision, false, executor),
                this::refundAsync);
        this.refunds = new Refunds(backend, fallback, waiting);
    }

    @Override
    public Decision tryAcquire(List<Charge> charges) {
        if (charges.size() == 1 && charges.get(0).isPlain()) {
            Charge only = charges.get(0);
            return tryAcquire(only.policy(), only.key(), only.permits());
        }
        return counted(decideNow(checked(charges), Backend.Mode.TAKE), false, Runnable::run);
    }

    /** The same as for a list of one charge, on a shorter path. */
    @Override
    public Decision tryAcquire(Policy policy, PartitionKey key, long permits) {
        int slot = System.identityHashCode(policy) & LAST_ASKED - 1;
        Asked known = lastAsked[slot];
        boolean isKnown = known != null && known.policy == policy;
        Backend.Decider decider = isKnown ? known.decider : decider(backend, policy);
        Decision decision;
        try {
            decision = decider.decideNow(key, permits, Backend.Mode.TAKE);
        } catch (RuntimeException failure) {
            // If the charge is wrong, this throws too: then no failure mode answers.
            decision = failures.whenBackendFails(new Charge(policy, key, permits), failure);
        }
        Counters.Row row = isKnown ? known.row : counters.row(policy.name(), Runnable::run);
        if (!isKnown) {
            lastAsked[slot] = new Asked(policy, decider, row);
        }
        row.count(decision);
        if (!decision.allowed()) {
            if (decision.blocked()) {
                row.countBlocked();
            }
            denials.add(decision, false, Runnable::run);
        }
        return decision;
    }

    /** What decides calls to a policy. */
    static Backend.Decider decider(Backend backend, Policy policy) {
        Objects.requireNonNull(policy, "policy");
        return backend instanceof Backend.PerPolicy finding
                ? finding.decider(policy)
                : (key, permits, mode) -> backend.decideNow(List.of(new Charge(policy, key, permits)), mode);
    }

    @Override
    public CompletionStage<Decision> tryAcquireAsync(List<Charge> charges) {
        return onExecutor(decide(charges, Backend.Mode.TAKE));
    }

    @Override
    public CompletableFuture<Decision> tryAcquireAsync(
            List<Charge> charges, Function<? super Charge, Duration> maxWaits) {
        return waiting.decide(checked(charges), maxWaits, this::askUncounted);
    }

    @Override
    public CompletableFuture<Decision> tryAcquireOrWait(
            List<Charge> charges, Function<? super Charge, Duration> maxWaits) {
        return waiting.decide(
                checked(charges),
                maxWaits,
                asked -> CompletableFuture.completedFuture(decideNow(asked, Backend.Mode.TAKE)));
    }

    @Override
    public int waiting() {
        return waiting.waiting();
    }

    @Override
    public List<CompletionStage<Decision>> tryAcquireEachAsync(List<Charge> charges, boolean shadow) {
        List<Charge> each = shadow ? withoutBlocks(charges) : charges;
        List<CompletionStage<Decision>> decisions = new ArrayList<>(each.size());
        for (CompletionStage<Decision> answer : backend.decideEach(each)) {
            List<Charge> asked = List.of(each.get(decisions.size()));
            decisions.add(onExecutor(answered(asked, Backend.Mode.TAKE, answer.toCompletableFuture())
                    .thenApply(taken -> counted(taken, shadow, executor))));
        }
        return decisions;
    }

    /** A shadow call must not count toward a block: the same policy and key may also be enforced. */
    private static List<Charge> withoutBlocks(List<Charge> charges) {
        return charges.stream()
                .map(one -> one.under(one.policy().withoutBlock()))
                .toList();
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return withoutRefund(decideNow(checked(charges), Backend.Mode.LOOK));
    }

    @Override
    public Decision check(List<Charge> charges) {
        Decision checked = decideNow(checked(charges), Backend.Mode.ASK);
        return checked.allowed() ? withoutRefund(checked) : counted(checked, false, Runnable::run);
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return onExecutor(decide(charges, Backend.Mode.LOOK));
    }

    @Override
    public void announce(Policy policy) {
        both.forEach(one -> one.announce(policy));
        waiting.renew(policy);
    }

    @Override
    public void retract(Policy policy) {
        both.forEach(one -> one.retract(policy));
        waiting.remove(policy);
    }

    @Override
    public void reset(Policy policy, PartitionKey key) {
        BackendException.result(resetAll(policy, key));
    }

    @Override
    public CompletionStage<Void> resetAsync(Policy policy, PartitionKey key) {
        return onExecutor(resetAll(policy, key));
    }

    @Override
    public boolean refund(Decision decision) {
        return BackendException.result(refunds.give(List.of(decision), charge -> true));
    }

    @Override
    public CompletionStage<Boolean> refundAsync(List<Decision> decisions, Predicate<? super Charge> which) {
        return onExecutor(refunds.give(decisions, which));
    }

    @Override
    public CompletionStage<Boolean> confirmAsync(Decision decision) {
        return onExecutor(refunds.confirm(decision));
    }

    @Override
    public Counters counters() {
        return counters;
    }

    @Override
    public Denials denials() {
        return denials;
    }

    @Override
    public BackendHealth health() {
        return backend.health();
    }

    @Override
    public void close() {
        waiting.close();
        both.forEach(Backend::close);
    }

    /** On the calling thread, including the failure mode and its logging. */
    private Decision decideNow(List<Charge> asked, Backend.Mode mode) {
        try {
            return backend.decideNow(asked, mode);
        } catch (RuntimeException failure) {
            return BackendException.result(failures.whenBackendFails(asked, mode, failure));
        }
    }

    private CompletableFuture<Decision> decide(List<Charge> charges, Backend.Mode mode) {
        List<Charge> asked = checked(charges);
        // Counted by the thread that completed the call, such as a Netty thread; listeners of the counters do not run
        // on it.
        return answered(asked, mode, ask(asked, mode))
                .thenApply(
                        mode == Backend.Mode.TAKE
                                ? taken -> counted(taken, false, executor)
                                : BackendRateLimiter::withoutRefund);
    }

    /** The answer of the backend or, if it fails, of the failure mode. */
    private CompletableFuture<Decision> answered(
            List<Charge> asked, Backend.Mode mode, CompletableFuture<Decision> answered) {
        if (!answered.isDone()) {
            // Not on the completing thread: that may be the one timer for the deadlines of all others.
            return answered.exceptionallyComposeAsync(
                    failure -> failures.whenBackendFails(asked, mode, failure), executor);
        }
        return answered.isCompletedExceptionally()
                ? answered.exceptionallyCompose(failure -> failures.whenBackendFails(asked, mode, failure))
                : answered;
    }

    private CompletableFuture<Decision> askUncounted(List<Charge> asked) {
        return answered(asked, Backend.Mode.TAKE, ask(asked, Backend.Mode.TAKE));
    }

    private CompletableFuture<Decision> ask(List<Charge> charges, Backend.Mode mode) {
        try {
            return backend.decide(charges, mode).toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Decision counted(Decision decision, boolean shadow, Executor listening) {
        counters.decided(decision, listening);
        if (!decision.allowed()) {
            denials.add(decision, shadow, listening);
        }
        return decision;
    }

    /** A peek took nothing, so there is nothing to give back. */
    private static Decision withoutRefund(Decision looked) {
        looked.claimRefund();
        return looked;
    }

    private CompletableFuture<Void> resetAll(Policy policy, PartitionKey key) {
        CompletableFuture<Void> reset = backend.reset(policy, key).toCompletableFuture();
        CompletableFuture<Void> all = fallback == null
                ? reset
                : CompletableFuture.allOf(reset, fallback.reset(policy, key).toCompletableFuture());
        return all.thenRun(() -> waiting.wake(policy, key));
    }

    private static List<Charge> checked(List<Charge> charges) {
        List<Charge> checked = List.copyOf(charges);
        if (checked.isEmpty()) {
            throw new IllegalArgumentException("no charges; give at least one");
        }
        Set<List<@Nullable Object>> asked = new HashSet<>();
        for (Charge charge : checked) {
            String policy = charge.policy().name();
            if (checked.size() > 1 && !asked.add(charge.quota())) {
                throw new IllegalArgumentException("two charges to policy '" + policy + "' for key '" + charge.key()
                        + "'; ask once with the sum of their permits");
            }
        }
        return checked;
    }

    private <T> CompletionStage<T> onExecutor(CompletableFuture<T> answer) {
        return answer.isDone()
                ? answer.minimalCompletionStage()
                : answer.whenCompleteAsync((value, failure) -> {}, executor).minimalCompletionStage();
    }
}
