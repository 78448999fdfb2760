package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.InFlight;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The limiter on a backend: checks the charges, calls the backend, and answers by failure mode when the backend can't. Thread-safe.
 *
 * <p>Who holds what: the backend has the permits; {@link FailureAnswers} the local shares that decide without it; {@link WaitQueues} the
 * calls that wait; {@link Reservations} the open holds; {@link EngineMonitor} the counters; {@link Returns} gives back and ends what was
 * taken. Here are only entries of {@link PolicyCalls}, which can be made again at any time.
 */
final class BackendRateLimiter extends RateLimiter {
    /** A power of 2. Bounded, as an application may make a policy for each call. */
    private static final int LATEST_POLICIES = 256;

    /**
     * What each call to a policy needs, found once.
     *
     * @param end ends what a decision of this policy took
     */
    private record PolicyCalls(Policy policy, Backend.Decider decider, CallCounts counts, Consumer<Decision> end) {}

    private final Backend backend;
    /** The backend and, if there is one, the fallback. */
    private final List<Backend> backends;

    private final Executor executor;
    private final EngineMonitor monitor;
    /** Found by identity. Read without synchronization: a thread that sees an old entry, or none, makes its own. */
    private final @Nullable PolicyCalls[] latestPolicies = new PolicyCalls[LATEST_POLICIES];

    private final FailureAnswers failures;
    private final Returns returns;
    private final Reservations holds;
    private final WaitQueues waiting;

    BackendRateLimiter(RateLimiters.Builder settings) {
        super(Access.LIBRARY);
        WaitTimer timer = settings.timer;
        Backend fallback = settings.fallback;
        this.backend = settings.backend;
        this.backends = fallback == null ? List.of(backend) : List.of(backend, fallback);
        this.executor = settings.executor;
        this.waiting = new WaitQueues(settings, charges -> ask(charges, Backend.Mode.TAKE), this::complete);
        this.monitor = new EngineMonitor(new DenialRecord(TimeSource.system()), backend::health, waiting::waiting);
        this.failures = new FailureAnswers(fallback, settings.instances, monitor, timer::nowMicros, executor);
        this.returns = new Returns(backend, fallback, waiting, this::countsOf);
        this.holds = new Reservations(backend, failures, returns, this::countsOf, timer, settings.holdKeep);
    }

    @Override
    public Decision tryAcquire(PermitRequest request) {
        return isPlain(request)
                ? take(request, callsOf(request.charges().get(0).policy(), Runnable::run), Runnable::run)
                : finished(Returns.checked(request), decideNow(charges(request), request.mode()), Runnable::run);
    }

    /** @param listening runs the listeners of the counters: the calling thread, unless that must not be delayed */
    private Decision take(PermitRequest request, PolicyCalls calls, Executor listening) {
        Charge charge = request.charges().get(0);
        return take(calls, charge.key(), charge.permits(), request.hasEnd(), listening);
    }

    /** The same as for a request, on a shorter path. */
    @Override
    public Decision tryAcquire(Policy policy, PartitionKey key, long permits) {
        return take(callsOf(policy, Runnable::run), key, permits, false, Runnable::run);
    }

    @Override
    public InFlight enter(Policy policy, PartitionKey key, long permits) {
        PolicyCalls calls = callsOf(policy, Runnable::run);
        return entered(take(calls, key, permits, true, Runnable::run), calls.end());
    }

    private Decision take(PolicyCalls calls, PartitionKey key, long permits, boolean hasEnd, Executor listening) {
        Policy policy = calls.policy();
        boolean isInFlight = policy.isInFlight();
        if (isInFlight && !hasEnd) {
            Returns.check(new Charge(policy, key, permits));
        }
        // Before the decision, so that their memory is read while that waits for the clock.
        long[] counts = calls.counts().ofThisThread();
        Decision decision;
        try {
            decision = calls.decider().decideNow(key, permits, Backend.Mode.TAKE);
        } catch (RuntimeException failure) {
            // If the charge is wrong, this throws too: then no failure mode answers.
            decision = failures.answer(List.of(new Charge(policy, key, permits)), Backend.Mode.TAKE, failure, null);
        }
        if (decision.source() == Decision.Source.OVERRIDDEN) {
            return counted(decision, false, listening);
        }
        calls.counts().add(counts, CallCounts.number(decision.source(), decision.allowed()), 1);
        if (isInFlight && decision.isOneInFlight()) {
            calls.counts().add(counts, CallCounts.IN_FLIGHT, permits);
        } else if (isInFlight) {
            returns.begin(decision);
        }
        if (!decision.allowed()) {
            monitor.denied(decision, calls.counts(), listening);
        }
        return decision;
    }

    /** The entry of a policy. The executor runs the listeners of the counters if the policy is new. */
    private PolicyCalls callsOf(Policy policy, Executor listening) {
        PolicyCalls known = latestPolicies[System.identityHashCode(policy) & LATEST_POLICIES - 1];
        // Short, so that it is compiled into its callers.
        return known != null && known.policy() == policy ? known : newPolicyCalls(policy, listening);
    }

    private PolicyCalls newPolicyCalls(Policy policy, Executor listening) {
        Objects.requireNonNull(policy, "policy");
        CallCounts counts = monitor.counts(policy.name(), listening);
        PolicyCalls calls =
                new PolicyCalls(policy, backend.decider(policy), counts, decision -> returns.end(decision, counts));
        latestPolicies[System.identityHashCode(policy) & LATEST_POLICIES - 1] = calls;
        return calls;
    }

    private CallCounts countsOf(Policy policy) {
        return callsOf(policy, executor).counts();
    }

    @Override
    public Decision acquire(PermitRequest request) throws InterruptedException {
        CompletableFuture<Decision> answer = acquireAsync(request.withBlocking());
        try {
            return answer.get();
        } catch (InterruptedException interrupted) {
            if (answer.cancel(false)) {
                throw interrupted;
            }
            // Decided at that moment: the caller must get the decision, or its permits would be lost.
            Thread.currentThread().interrupt();
            return answer.join();
        } catch (ExecutionException failed) {
            throw BackendException.of(failed);
        }
    }

    @Override
    public CompletableFuture<Decision> acquireAsync(PermitRequest request) {
        Returns.checked(request);
        if (!request.mayWait() && isPlain(request)) {
            PolicyCalls calls = callsOf(request.charges().get(0).policy(), executor);
            if (calls.decider().isImmediate()) {
                return CompletableFuture.completedFuture(take(request, calls, executor));
            }
        }
        Function<List<Charge>, CompletableFuture<Decision>> ask = request.isBlocking()
                ? charges -> FailureAnswers.futureOf(
                        () -> CompletableFuture.completedFuture(decideNow(charges, request.mode())))
                : charges -> ask(charges, request.mode());
        return request.mayWait() ? waiting.decide(request, ask) : finished(request, ask.apply(charges(request)));
    }

    @Override
    public List<CompletableFuture<Decision>> acquireEachAsync(List<PermitRequest> requests) {
        requests.forEach(Returns::checked);
        if (!requests.stream().allMatch(BackendRateLimiter::isSingle)) {
            return requests.stream().map(this::acquireAsync).toList();
        }
        List<Charge> each =
                requests.stream().map(request -> charges(request).get(0)).toList();
        List<CompletableFuture<Decision>> decisions = new ArrayList<>(each.size());
        for (CompletionStage<Decision> answer : backend.decideEach(each)) {
            int next = decisions.size();
            CompletableFuture<Decision> taken =
                    failures.orAnswer(List.of(each.get(next)), Backend.Mode.TAKE, answer.toCompletableFuture(), null);
            decisions.add(finished(requests.get(next), taken));
        }
        return decisions;
    }

    /** Whether a call takes one charge, which its policy's decider can do. */
    private static boolean isPlain(PermitRequest request) {
        List<Charge> charges = request.charges();
        return charges.size() == 1
                && charges.get(0).isPlain()
                && request.mode() == Backend.Mode.TAKE
                && !request.isShadow();
    }

    /** Whether a call takes one charge and does not wait. */
    private static boolean isSingle(PermitRequest request) {
        return request.charges().size() == 1 && request.mode() == Backend.Mode.TAKE && !request.mayWait();
    }

    /** A shadow call must not count toward a block: the same policy and key may also be enforced. */
    private static List<Charge> charges(PermitRequest request) {
        return !request.isShadow()
                ? request.charges()
                : request.charges().stream()
                        .map(one -> FailureAnswers.under(one.policy().withPenalty(null), one))
                        .toList();
    }

    /** Accounted for by the thread that completed the call, such as a Netty thread; listeners of the counters do not run on it. */
    private CompletableFuture<Decision> finished(PermitRequest request, CompletableFuture<Decision> answer) {
        CompletableFuture<Decision> counted = answer.thenApply(decision -> finished(request, decision, executor));
        return request.hasEnd() ? Returns.orUndone(onExecutor(counted), counted, returns::end) : onExecutor(counted);
    }

    /** Accounts for a decision: counts it and, if it has an end, begins it; a look that took nothing loses its right to a refund. */
    private Decision finished(PermitRequest request, Decision decision, Executor listening) {
        boolean counts =
                request.mode() == Backend.Mode.TAKE || request.mode() == Backend.Mode.ASK && !decision.allowed();
        if (counts) {
            if (request.hasEnd()) {
                returns.begin(decision);
            }
            return counted(decision, request.isShadow(), listening);
        }
        // It took nothing, so there is nothing to give back.
        decision.claimRefund(Access.LIBRARY);
        decision.outcomes().forEach(outcome -> outcome.claimEnd(Access.LIBRARY));
        return decision;
    }

    @Override
    public void announce(Policy policy) {
        backends.forEach(one -> one.announce(policy));
        waiting.renew(policy);
    }

    @Override
    public void retract(Policy policy) {
        backends.forEach(one -> one.retract(policy));
        waiting.remove(policy);
    }

    @Override
    public void reset(Policy policy, PartitionKey key) {
        CompletableFuture<?>[] all = backends.stream()
                .map(one -> one.reset(policy, key).toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        BackendException.join(CompletableFuture.allOf(all).thenRun(() -> waiting.wake(policy, key)));
    }

    @Override
    public boolean refund(Decision decision) {
        return BackendException.join(returns.refund(List.of(decision), charge -> true));
    }

    @Override
    public void end(Decision decision) {
        returns.end(decision);
    }

    @Override
    public boolean confirm(Decision decision) {
        return BackendException.join(returns.confirm(decision));
    }

    @Override
    public CompletableFuture<Boolean> refundAsync(List<Decision> decisions, Predicate<? super Charge> which) {
        return onExecutor(returns.refund(decisions, which));
    }

    @Override
    public CompletableFuture<Boolean> confirmAsync(Decision decision) {
        return onExecutor(returns.confirm(decision));
    }

    @Override
    public Hold reserve(List<Charge> charges, Duration ttl) {
        return counted(BackendException.join(holds.reserve(charges, ttl, true)));
    }

    @Override
    public CompletableFuture<Hold> reserveAsync(List<Charge> charges, Duration ttl) {
        CompletableFuture<Hold> counted = holds.reserve(charges, ttl, false).thenApply(this::counted);
        return Returns.orUndone(onExecutor(counted), counted, hold -> {
            returns.end(hold.decision());
            holds.settle(hold, charge -> 0);
        });
    }

    /** Counts a reservation, and what it holds of calls in flight. */
    private Hold counted(Hold hold) {
        returns.begin(hold.decision());
        counted(hold.decision(), false, executor);
        return hold;
    }

    @Override
    public Settlement settle(Hold hold, ToLongFunction<? super Charge> actual) {
        return BackendException.join(holds.settle(hold, actual));
    }

    @Override
    public CompletableFuture<Settlement> settleAsync(Hold hold, ToLongFunction<? super Charge> actual) {
        return onExecutor(holds.settle(hold, actual));
    }

    @Override
    public LimiterMonitor monitor() {
        return monitor;
    }

    @Override
    public void close() {
        waiting.close();
        holds.close();
        backends.forEach(Backend::close);
    }

    /** On the calling thread, including the failure mode and its logging. */
    private Decision decideNow(List<Charge> charges, Backend.Mode mode) {
        try {
            return backend.decideNow(charges, mode);
        } catch (RuntimeException failure) {
            return failures.answer(charges, mode, failure, null);
        }
    }

    private CompletableFuture<Decision> ask(List<Charge> charges, Backend.Mode mode) {
        return failures.orAnswer(charges, mode, FailureAnswers.futureOf(() -> backend.decide(charges, mode)), null);
    }

    private Decision counted(Decision decision, boolean shadow, Executor listening) {
        monitor.decided(decision, shadow, listening);
        return decision;
    }

    /** Counts and completes a call that could wait. What a cancelled one took is given back. */
    private void complete(CompletableFuture<Decision> promise, Decision decision) {
        returns.begin(decision);
        if (!promise.isDone()) {
            counted(decision, false, executor);
        }
        if (!promise.complete(decision) && decision.allowed()) {
            refundAsync(List.of(decision), charge -> true);
        }
    }

    private <T> CompletableFuture<T> onExecutor(CompletableFuture<T> answer) {
        return answer.isDone() ? answer : answer.whenCompleteAsync((value, failure) -> {}, executor);
    }
}
