package io.limiter;

import io.limiter.Hold.Settlement;
import io.limiter.internal.Access;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Decides whether a call is allowed now under the limits of a policy and, if not, when. Thread-safe. {@code
 * io.limiter.engine.RateLimiters} makes it; only this library extends it, so that it can grow.
 *
 * <p>A limiter answers even when its backend is unreachable: then the {@link FailureMode} of the policies decides, and
 * {@link Decision#source()} shows it. It never throws because of the backend, except from {@link #reset} and {@link
 * #confirm}.
 *
 * <pre>{@code
 * Policy vote = Policy.of("vote", Limit.slidingList(3, Duration.ofSeconds(10)));
 * RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
 * Decision decision = limiter.tryAcquire(vote, PartitionKey.of("192.0.2.1"), 1);
 * }</pre>
 *
 * <p>Stages that depend on a future run on the limiter's executor, or on the calling thread if the answer is known at
 * once; never on a thread of the Redis client.
 */
public abstract class RateLimiter implements AutoCloseable {
    /** How many calls may wait by default. */
    public static final int DEFAULT_MAX_WAITING = 500;

    /** For this library. */
    protected RateLimiter(Access library) {
        Objects.requireNonNull(library);
    }

    /**
     * Takes permits of one policy for one key, or none. Waits for the backend, at most its deadline, and never for
     * permits.
     */
    public abstract Decision tryAcquire(Policy policy, PartitionKey key, long permits);

    /** Decides a request at once: as {@link #tryAcquire(Policy, PartitionKey, long)}, whatever it may wait. */
    public abstract Decision tryAcquire(PermitRequest request);

    /**
     * Decides a request, on a thread that waits if the request {@linkplain PermitRequest#withMaxWait may wait}. A virtual
     * thread releases its carrier.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; the call has taken nothing then
     */
    public abstract Decision acquire(PermitRequest request) throws InterruptedException;

    /**
     * Decides a request without blocking. A call that {@linkplain PermitRequest#withMaxWait may wait} and is denied waits
     * until its permits are due, without a thread. Those that wait for one limit and key are admitted in order of arrival;
     * a newcomer joins their end without asking. A wait that can't succeed in time is denied at once, and so is a call when
     * too many wait already.
     *
     * @return a future of a decision that is counted once: the last one. For a call that was denied without calling the
     *     backend, its source is {@link Decision.Source#CACHED_DENIAL}. If you cancel the future of a call that may wait,
     *     the call leaves the queue, and permits that it has taken are given back
     */
    public abstract CompletableFuture<Decision> acquireAsync(PermitRequest request);

    /**
     * Decides each request independently of the others, as {@link #acquireAsync}. Requests of one charge that can't wait
     * are sent together, if all are such.
     *
     * @return a future for each request, in their order
     */
    public abstract List<CompletableFuture<Decision>> acquireEachAsync(List<PermitRequest> requests);

    /**
     * Announces a policy, as {@link Backend#announce} does. Calls that wait under an earlier policy of that name try
     * again under this one.
     */
    public abstract void announce(Policy policy);

    /** Withdraws an announcement, as {@link Backend#retract} does. Calls that wait under a policy of that name are denied. */
    public abstract void retract(Policy policy);

    /**
     * Forgets what the key used of the policy.
     *
     * @throws BackendException if the backend can't do it now
     */
    public abstract void reset(Policy policy, PartitionKey key);

    /**
     * Gives back what an allowed decision took, as far as it still counts: of a fixed window only while that window
     * lasts, of a log the call's own entries, of a bucket what has not refilled since; a call in flight has ended. A second refund of a decision
     * has no effect.
     *
     * @return whether anything was given back; false also when the backend can't do it now
     */
    public abstract boolean refund(Decision decision);

    /**
     * Gives back some charges of several decisions together, without blocking, in one command where the backend is not a
     * cluster. This is the only refund of each of these decisions: permits that are not chosen stay spent.
     *
     * @param which chooses by policy name and key
     * @return whether anything was given back; false also when the backend can't do it now
     */
    public abstract CompletableFuture<Boolean> refundAsync(List<Decision> decisions, Predicate<? super Charge> which);

    /**
     * Confirms what an allowed decision took of a {@linkplain Limit#allotment stock}, when the purchase is complete: its hold
     * does not expire any more, and it can't be given back. On another machine, or after a restart, repeat the call
     * with its request id to get the decision. Confirming again has no effect.
     *
     * @return whether it is confirmed; false if the hold had expired or was given back, or nothing was taken of a
     *     stock
     * @throws BackendException if the backend can't do it now, or it is not known whether it has: confirm again
     */
    public abstract boolean confirm(Decision decision);

    /** As {@link #confirm}, without blocking; the future completes exceptionally with {@link BackendException}. */
    public abstract CompletableFuture<Boolean> confirmAsync(Decision decision);

    /**
     * Begins a call that holds permits until it ends: as {@link #tryAcquire(PermitRequest)}. Needed for policies with a {@linkplain
     * Limit#concurrent limit of calls in flight}. Close what is returned when the call has ended, whatever its decision is.
     */
    public InFlight enter(List<Charge> charges) {
        return new InFlight(tryAcquire(PermitRequest.of(charges).withEnd()), this::end);
    }

    /** The same under one policy. */
    public InFlight enter(Policy policy, PartitionKey key, long permits) {
        return enter(List.of(new Charge(policy, key, permits)));
    }

    /**
     * As {@link #enter(List)} for a request that may wait.
     *
     * @throws InterruptedException as {@link #acquire}
     */
    public InFlight enter(PermitRequest request) throws InterruptedException {
        return new InFlight(acquire(request.withEnd()), this::end);
    }

    /** As {@link #acquireAsync}. What is granted after the future was cancelled is ended. */
    public CompletableFuture<InFlight> enterAsync(PermitRequest request) {
        CompletableFuture<Decision> pending = acquireAsync(request.withEnd());
        CompletableFuture<InFlight> entered = new CompletableFuture<>();
        entered.whenComplete((call, cancelled) -> {
            if (call == null) {
                pending.cancel(false);
            }
        });
        pending.whenComplete((decision, failure) -> {
            if (failure != null) {
                entered.completeExceptionally(failure);
            } else if (!entered.complete(new InFlight(decision, this::end))) {
                end(decision);
            }
        });
        return entered;
    }

    /** A call that ends so. For this library. */
    protected static InFlight entered(Decision decision, Consumer<? super Decision> end) {
        return new InFlight(decision, end);
    }

    /**
     * Ends a call in flight, once, without waiting for the backend: gives back what its decision holds, not what rates have counted.
     * Does nothing where it holds nothing. Never throws.
     */
    public abstract void end(Decision decision);

    /**
     * Reserves permits for a call whose cost is known later, for example the tokens of a language model: decides as {@link
     * #tryAcquire}, all or nothing, with an estimate. Without a settlement the permits come back by themselves.
     *
     * @param charges as of a {@link PermitRequest}; at least one to a policy {@linkplain Policy#withHolds with holds}, those without
     *     request ids. Those to other policies are taken as usual: a settlement with 0 gives them back, any other leaves them, and
     *     calls in flight {@linkplain #end end}
     * @param ttl after which time the permits come back, from 1 ms to 1 day
     * @throws IllegalArgumentException if no policy has holds, an argument is out of its range, there is no charge, or two are to
     *     the same policy and key
     */
    public abstract Hold reserve(List<Charge> charges, Duration ttl);

    /** Reserves permits of one policy for one key. */
    public Hold reserve(Policy policy, PartitionKey key, long permits, Duration ttl) {
        return reserve(List.of(new Charge(policy, key, permits)), ttl);
    }

    /** As {@link #reserve}, without blocking. What is granted after the future was cancelled is given back. */
    public abstract CompletableFuture<Hold> reserveAsync(List<Charge> charges, Duration ttl);

    /**
     * Ends a hold with the actual cost of each of its charges: gives back what was not used, or charges what was used above the
     * estimate, without asking. Waits for the backend, at most its deadline; what did not reach it by then is tried again in
     * the background until the record of the hold ends. Settling a hold again has no effect. Never throws because of the backend.
     *
     * @param actual from 0 to 2<sup>31</sup>-1; another number leaves the estimate
     */
    public Settlement settle(Hold hold, long actual) {
        return settle(hold, charge -> actual);
    }

    /** The same with the cost of each charge. */
    public abstract Settlement settle(Hold hold, ToLongFunction<? super Charge> actual);

    /** As {@link #settle}, without blocking. The future never fails because of the backend. */
    public abstract CompletableFuture<Settlement> settleAsync(Hold hold, ToLongFunction<? super Charge> actual);

    /** Gives back all that the hold took, as far as it still counts: settles it with 0. */
    public Settlement cancel(Hold hold) {
        return settle(hold, 0);
    }

    /** The decisions so far, the keys that were denied, the calls that wait, and the state of the backend. */
    public abstract LimiterMonitor monitor();

    /** Closes the backend and the fallback. */
    @Override
    public abstract void close();
}
