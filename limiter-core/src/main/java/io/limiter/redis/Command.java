package io.limiter.redis;

import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;

/**
 * One command to Redis: a script, its keys and its arguments. Several calls can share one, as requests of the batch script.
 * A lone limit takes the script of its algorithm; both speak of a limit in the same six numbers.
 */
record Command(Script script, List<Object> keys, List<Object> arguments) {
    /**
     * The command of some calls.
     *
     * @param time where the time is read; null for the server's
     */
    static Command of(List<Call> calls, @Nullable TimeSource time) {
        List<Object> keys = new ArrayList<>();
        for (Call call : calls) {
            for (Call.Part part : call.parts()) {
                keys.add(part.key());
            }
        }
        Script script = script(calls);
        List<Object> arguments = new ArrayList<>();
        String now = time == null ? "" : Long.toString(time.nowMicros());
        if (script == Script.BATCH) {
            arguments.add(now);
            for (Call call : calls) {
                arguments.add(Integer.toString(call.parts().size()));
                for (Call.Part part : call.parts()) {
                    arguments.add(part.limit().algorithm().text());
                    addNumbers(arguments, part);
                    addIdAndMode(arguments, part);
                }
            }
        } else if (script != Script.RESET) {
            Call.Part lone = calls.get(0).parts().get(0);
            addNumbers(arguments, lone);
            arguments.add(now);
            addIdAndMode(arguments, lone);
        }
        return new Command(script, keys, arguments);
    }

    /**
     * What is whose of the reply: a list of numbers for each call, or the error that kept that call from a decision.
     *
     * @throws io.limiter.BackendException if it is no reply of these scripts
     */
    List<?> replies(@Nullable List<Object> reply, int calls) {
        if (reply == null) {
            throw RedisFailure.misread("Redis replied with nothing");
        }
        if (script != Script.BATCH) {
            return Collections.singletonList(reply);
        }
        if (reply.size() != calls || !reply.stream().allMatch(List.class::isInstance)) {
            throw RedisFailure.misread("the batch script's reply is not that of its requests");
        }
        return reply.stream().map(Command::withoutError).toList();
    }

    /** The batch script replies the error of a request as its text. */
    private static Object withoutError(Object request) {
        return request instanceof List<?> list && list.size() == 1 && list.get(0) instanceof String error
                ? new RedisException(RedisFailure.code(error).isEmpty() ? "ERR " + error : error)
                : request;
    }

    /** The script of one algorithm is enough for a lone limit. It does not know how to see without taking. */
    private static Script script(List<Call> calls) {
        List<Call.Part> parts = calls.get(0).parts();
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
