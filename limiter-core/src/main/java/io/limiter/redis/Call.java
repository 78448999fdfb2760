package io.limiter.redis;

import io.limiter.Algorithm;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call of a script: its keys and arguments, and how its reply is read. A lone limit takes the script of its
 * algorithm, several limits the batch script as one request; both speak of a limit in the same six numbers.
 */
final class Call {
    /** Take the permits if all limits allow it. */
    static final String TAKE = "";
    /** Answer as a take would, and write nothing. */
    static final String LOOK = "look";
    /** Is it allowed, with the numbers of a call that takes nothing. Batch script only. */
    static final String SEE = "see";
    /** As {@link #SEE}, as the beginning of a take. Batch script only. */
    static final String ASK = "ask";

    private static final int NUMBERS = 6;

    private record Part(Charge charge, Limit limit, String mode) {}

    private final RedisKeys redisKeys;
    private final List<Part> parts = new ArrayList<>();

    Call(RedisKeys redisKeys) {
        this.redisKeys = redisKeys;
    }

    /** Asks all limits of a charge. */
    Call add(Charge charge, String mode) {
        for (Limit limit : charge.policy().limits()) {
            parts.add(new Part(charge, limit, mode));
        }
        return this;
    }

    /** Gives back what an outcome took. */
    Call addRefund(LimitOutcome outcome) {
        parts.add(new Part(outcome.charge(), outcome.limit(), "back:" + outcome.stampMicros()));
        return this;
    }

    Script script() {
        return isAlone() ? Script.alone(algorithm()) : Script.BATCH;
    }

    List<Object> keys() {
        List<Object> keys = new ArrayList<>(parts.size());
        for (Part part : parts) {
            keys.add(redisKeys.of(part.charge.policy(), part.charge.key(), part.limit));
        }
        return keys;
    }

    /**
     * The arguments.
     *
     * @param time where the time is read; null for the server's
     */
    Object[] arguments(@Nullable TimeSource time) {
        String now = time == null ? "" : Long.toString(time.nowMicros());
        List<Object> arguments = new ArrayList<>(2 + 7 * parts.size());
        if (isAlone()) {
            addNumbers(arguments, parts.get(0));
            arguments.add(now);
            addIdAndMode(arguments, parts.get(0));
        } else {
            arguments.add(now);
            arguments.add(Integer.toString(parts.size()));
            for (Part part : parts) {
                arguments.add(part.limit.algorithm().text());
                addNumbers(arguments, part);
                addIdAndMode(arguments, part);
            }
        }
        return arguments.toArray();
    }

    /**
     * The outcomes in a reply.
     *
     * @throws BackendException if it is no reply of these scripts
     */
    List<LimitOutcome> outcomes(List<?> reply) {
        List<?> numbers = isAlone() ? reply : requestOf(reply);
        if (numbers.size() != NUMBERS * parts.size()) {
            throw misread("a script replied with " + numbers.size() + " values instead of " + NUMBERS * parts.size());
        }
        List<LimitOutcome> outcomes = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            int at = i * NUMBERS;
            outcomes.add(new LimitOutcome(
                    parts.get(i).charge,
                    parts.get(i).limit,
                    number(numbers, at) == 1,
                    number(numbers, at + 1),
                    number(numbers, at + 2),
                    number(numbers, at + 3),
                    number(numbers, at + 4),
                    number(numbers, at + 5)));
        }
        return outcomes;
    }

    /** Whether the script of one algorithm is enough. It does not know how to see without taking. */
    private boolean isAlone() {
        return parts.size() == 1
                && !parts.get(0).mode.equals(SEE)
                && !parts.get(0).mode.equals(ASK);
    }

    private Algorithm algorithm() {
        return parts.get(0).limit.algorithm();
    }

    private static void addNumbers(List<Object> arguments, Part part) {
        arguments.add(Long.toString(part.charge.permits()));
        arguments.add(Long.toString(part.limit.permits()));
        arguments.add(Long.toString(part.limit.periodMicros()));
        arguments.add(Long.toString(part.limit.burst()));
    }

    private static void addIdAndMode(List<Object> arguments, Part part) {
        String id = part.charge.requestId();
        arguments.add(id == null ? "" : PartitionKey.of(id).canonical());
        arguments.add(part.mode);
    }

    private static List<?> requestOf(List<?> reply) {
        if (reply.size() == 1 && reply.get(0) instanceof List<?> request) {
            return request;
        }
        throw misread("the batch script's reply is not that of one request");
    }

    private static long number(List<?> numbers, int i) {
        if (numbers.get(i) instanceof Long number) {
            return number;
        }
        throw misread("a script's reply holds something else than whole numbers");
    }

    private static BackendException misread(String what) {
        return new BackendException(
                BackendException.Kind.FAULT, "RL-228 " + what + "; is something between this JVM and Redis?", null);
    }
}
