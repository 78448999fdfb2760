package io.limiter.redis;

import io.limiter.Limit;
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
        calls.forEach(call -> call.parts.forEach(part -> keys.add(part.key())));
        Script script = script(calls);
        List<Object> arguments = new ArrayList<>();
        String now = time == null ? "" : Long.toString(time.nowMicros());
        if (script == Script.BATCH) {
            arguments.add(now);
            arguments.add(Integer.toString(calls.size()));
            calls.forEach(call -> addForm(arguments, call));
            for (int form = 1; calls.size() > 1 && form <= calls.size(); form++) {
                arguments.addAll(List.of(Integer.toString(form), "1"));
            }
        } else if (script != Script.RESET) {
            Call.Part part = calls.get(0).parts.get(0);
            addNumbers(arguments, part);
            if (time != null || !isPlain(part)) {
                arguments.addAll(List.of(now, id(part), part.mode()));
            }
        }
        BooleanSupplier isWanted = () -> calls.stream().anyMatch(call -> !call.isDone());
        return new Command(script, keys, arguments, calls.get(0).longest, isWanted);
    }

    /** What is whose of the reply: a list of numbers for each call, or the error that kept that call from a decision. */
    List<?> replies(@Nullable List<Object> reply, int calls) {
        if (calls == 1 && reply != null) {
            return List.of(reply);
        }
        if (reply == null || reply.size() != calls) {
            return Collections.nCopies(calls, RedisFailure.misread("a script did not reply to each request"));
        }
        return reply.stream().map(Command::withoutError).toList();
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

    /** The form of a call: a number of limits below 0 says that each has a request id and a mode too. */
    private static void addForm(List<Object> arguments, Call call) {
        boolean plain = call.parts.stream().allMatch(Command::isPlain);
        arguments.add(Integer.toString(plain ? call.parts.size() : -call.parts.size()));
        for (Call.Part part : call.parts) {
            arguments.add(part.limit().algorithm().text());
            addNumbers(arguments, part);
            if (!plain) {
                arguments.addAll(List.of(id(part), part.mode()));
            }
        }
    }

    /** Whether it is a take without a request id, of which nothing but the numbers need be said. */
    private static boolean isPlain(Call.Part part) {
        return part.mode().equals(Call.TAKE) && part.charge().requestId() == null;
    }

    private static void addNumbers(List<Object> arguments, Call.Part part) {
        Limit limit = part.limit();
        for (long number : new long[] {part.charge().permits(), limit.permits(), limit.periodMicros(), limit.burst()}) {
            arguments.add(Long.toString(number));
        }
    }

    private static String id(Call.Part part) {
        String id = part.charge().requestId();
        return id == null ? "" : PartitionKey.of(id).canonical();
    }
}
