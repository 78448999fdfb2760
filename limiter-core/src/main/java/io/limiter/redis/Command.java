package io.limiter.redis;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;

/**
 * One command to Redis: a script, its keys and its arguments. Several calls can share one, as requests of the batch script.
 * A lone limit takes the script of its algorithm; both speak of a limit in the same six numbers.
 *
 * @param longest how long anybody waits for it
 * @param isWanted whether anybody waits still
 */
record Command(Script script, List<Object> keys, List<Object> arguments, Duration longest, BooleanSupplier isWanted) {
    /** Who gets the reply, or why there is none. */
    interface Receiver {
        void accept(@Nullable List<Object> reply, @Nullable Throwable failure);
    }

    /** For somebody who waits for it, whatever happens. */
    Command(Script script, List<Object> keys, List<Object> arguments, Duration longest) {
        this(script, keys, arguments, longest, () -> true);
    }

    /**
     * The command of some calls.
     *
     * @param time where the time is read; null for the server's
     */
    static Command of(List<Call> calls, @Nullable TimeSource time) {
        List<Object> keys = new ArrayList<>();
        for (Call call : calls) {
            for (Call.Part part : call.parts) {
                keys.add(part.key());
            }
        }
        Script script = script(calls);
        List<Object> arguments = new ArrayList<>();
        String now = time == null ? "" : Long.toString(time.nowMicros());
        if (script == Script.BATCH) {
            arguments.add(now);
            for (Call call : calls) {
                arguments.add(Integer.toString(call.parts.size()));
                for (Call.Part part : call.parts) {
                    arguments.add(part.limit().algorithm().text());
                    addNumbers(arguments, part);
                    addIdAndMode(arguments, part);
                }
            }
        } else if (script != Script.RESET) {
            Call.Part lone = calls.get(0).parts.get(0);
            addNumbers(arguments, lone);
            arguments.add(now);
            addIdAndMode(arguments, lone);
        }
        BooleanSupplier isWanted = () -> calls.stream().anyMatch(call -> !call.isDone());
        return new Command(script, keys, arguments, calls.get(0).longest, isWanted);
    }

    /** What is whose of the reply: a list of numbers for each call, or the error that kept that call from a decision. */
    List<?> replies(@Nullable List<Object> reply, int calls) {
        if (reply == null || (script == Script.BATCH && reply.size() != calls)) {
            return Collections.nCopies(calls, RedisFailure.misread("a script did not reply to each request"));
        }
        return script == Script.BATCH
                ? reply.stream().map(Command::withoutError).toList()
                : List.of(reply);
    }

    /** The batch script replies the error of a request as its text. */
    private static Object withoutError(Object request) {
        if (!(request instanceof List<?> list)) {
            return RedisFailure.misread("the batch script's reply is not that of its requests");
        }
        return list.size() == 1 && list.get(0) instanceof String error
                ? new RedisException(RedisFailure.code(error).isEmpty() ? "ERR " + error : error)
                : list;
    }

    /** The script of one algorithm is enough for a lone limit. It does not know how to see without taking. */
    private static Script script(List<Call> calls) {
        List<Call.Part> parts = calls.get(0).parts;
        String mode = parts.get(0).mode();
        if (mode.equals(Call.RESET)) {
            return Script.RESET;
        }
        boolean alone = calls.size() == 1 && parts.size() == 1 && !mode.equals(Call.SEE) && !mode.equals(Call.ASK);
        return alone ? Script.alone(parts.get(0).limit().algorithm()) : Script.BATCH;
    }

    private static void addNumbers(List<Object> arguments, Call.Part part) {
        arguments.add(Long.toString(part.charge().permits()));
        arguments.add(Long.toString(part.limit().permits()));
        arguments.add(Long.toString(part.limit().periodMicros()));
        arguments.add(Long.toString(part.limit().burst()));
    }

    private static void addIdAndMode(List<Object> arguments, Call.Part part) {
        String id = part.charge().requestId();
        arguments.add(id == null ? "" : PartitionKey.of(id).canonical());
        arguments.add(part.mode());
    }
}
