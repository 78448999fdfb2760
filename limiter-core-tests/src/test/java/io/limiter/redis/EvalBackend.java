package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.RedisServers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import redis.clients.jedis.Jedis;

/**
 * Runs the texts of the scripts on a real server, after something was done to them: for planted faults. A key that was not declared is
 * an error.
 */
final class EvalBackend implements Backend {
    /** Stands before a script, whose commands have their key first; UNLINK has keys only. */
    private static final String ONLY_DECLARED = """
            local redis = setmetatable({}, {__index = redis})
            local declared, server = {}, getmetatable(redis).__index
            for _, key in ipairs(KEYS) do declared[key] = true end
            function redis.call(command, ...)
              local names = {...}
              for i = 1, command == 'TIME' and 0 or command == 'UNLINK' and #names or 1 do
                if not declared[names[i]] then error('UNDECLARED ' .. command .. ' ' .. names[i]) end
              end
              return server.call(command, ...)
            end
            """;

    private final Jedis redis;
    private final RedisKeys keys;
    private final CallsInFlight flights;
    private final TimeSource time;
    private final UnaryOperator<String> change;

    EvalBackend(int port, String prefix, TimeSource time, UnaryOperator<String> change) {
        this.redis = RedisServers.jedis(port);
        this.keys = new RedisKeys(prefix, null);
        // Nothing is renewed: by its clock nothing runs out.
        this.flights = new CallsInFlight(TimeSource.system(), new CallsInFlight.Sender() {
            @Override
            public void send(Call.Part part) {
                run(List.of(part));
            }

            @Override
            public void after(long micros, Runnable task) {}
        });
        this.time = time;
        this.change = change;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        List<Call.Part> parts = flights.begin(Call.parts(keys, charges, mode == Mode.TAKE ? Call.TAKE : Call.LOOK));
        return CompletableFuture.completedFuture(Decision.of(Decision.Source.REDIS, charges, run(parts)));
    }

    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        List<Call.Part> parts = Held.of(terms).reserving(Call.parts(keys, charges, Call.TAKE));
        return CompletableFuture.completedFuture(Decision.of(Decision.Source.REDIS, charges, run(parts)));
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        // Of one charge, so the parts are in the order of its outcomes.
        List<Settled> settled = Decisions.ends(keys, held.outcomes(), Call.BACK).stream()
                .flatMap(ends -> run(Held.of(terms).settling(ends, actual)).stream())
                .map(outcome -> Reply.settled(outcome.stampMicros()))
                .toList();
        return CompletableFuture.completedFuture(settled);
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return CompletableFuture.completedFuture(
                end(decision, Call.BACK).stream().anyMatch(LimitOutcome::allowed));
    }

    @Override
    public CompletionStage<Boolean> confirm(Decision decision) {
        return CompletableFuture.completedFuture(
                end(decision, Call.KEEP).stream().allMatch(LimitOutcome::allowed));
    }

    private List<LimitOutcome> end(Decision decision, String how) {
        return Decisions.ends(keys, decision.outcomes(), how).stream()
                .flatMap(parts -> run(parts).stream())
                .toList();
    }

    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        List<Call.Part> parts = Call.parts(keys, List.of(new Charge(policy, key, 0)), Call.RESET);
        parts.removeIf(Call.Part::isInFlight);
        if (!parts.isEmpty()) {
            run(parts);
        }
        return CompletableFuture.completedFuture(null);
    }

    /** The keys of this backend that have no time to live. */
    List<String> immortalKeys(String prefix) {
        return redis.keys(prefix + ":*").stream()
                .filter(key -> redis.pttl(key) == -1)
                .toList();
    }

    /** The number of fields of the state of a policy of one limit. */
    long fields(Policy policy) {
        return redis.hlen(keys.of(policy, PartitionKey.global(), policy.limits().get(0)));
    }

    /** Deletes all keys of a prefix. */
    void forget(String prefix) {
        redis.keys(prefix + ":*").forEach(redis::del);
    }

    @Override
    public void close() {
        redis.close();
    }

    private List<LimitOutcome> run(List<Call.Part> parts) {
        Call call = new Call(parts, 1_000_000, 0, 0, true);
        Command command = Command.of(List.of(call), time);
        List<String> names = command.keys().stream().map(String::valueOf).toList();
        List<String> arguments =
                command.arguments().stream().map(String::valueOf).toList();
        Object reply = redis.eval(ONLY_DECLARED + change.apply(command.script().text()), names, arguments);
        @SuppressWarnings("unchecked") // the scripts' reply is a list
        List<Object> values = (List<Object>) reply;
        Object answer = command.replies(values).get(0);
        call.deliver(answer instanceof Throwable error ? RedisFailure.of(error) : answer);
        return call.outcomes();
    }
}
