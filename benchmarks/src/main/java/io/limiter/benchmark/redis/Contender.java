package io.limiter.benchmark.redis;

import java.util.concurrent.CompletionStage;

/** The code under load: a call, and the same without blocking. Both answer with the flags below. Thread-safe. */
public interface Contender extends AutoCloseable {
    /** The call was allowed. */
    int ALLOWED = 1;
    /** Redis decided this call; else this JVM did. */
    int BY_REDIS = 2;
    /** The failure mode answered, or an exception. */
    int FAILED = 4;

    /** Decides for a key. */
    int ask(int key);

    /** Decides for a key, later. */
    CompletionStage<Integer> askAsync(int key);

    /** How many calls were answered as in an outage of Redis. */
    default long unavailable() {
        return 0;
    }

    @Override
    void close();

    /**
     * Where and what a contender decides.
     *
     * @param address of Redis, such as {@code redis://127.0.0.1:6379}
     * @param deadline of a decision of ours, such as {@code 1s}
     * @param permits the permits in each period
     */
    record Task(String address, String deadline, long permits, long periodMicros) {
        /** The task of a workload. */
        public Task(String address, String deadline, Workload workload) {
            this(address, deadline, workload.permits(), workload.periodMicros());
        }

        /** The second limit of those that keep two: a hundred times as much in a hundred periods, and so never the one that denies. */
        Task second() {
            return new Task(address, deadline, permits * 100, periodMicros * 100);
        }
    }

    /** The server lacks what this contender needs. */
    final class UnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnavailableException(String message) {
            super(message);
        }
    }

    /**
     * The contender of that name.
     *
     * @throws IllegalArgumentException if there is none
     * @throws UnavailableException if the server lacks a command for it
     */
    static Contender of(String name, Task task) {
        int dash = name.lastIndexOf('-');
        String what = name.substring(dash + 1);
        return switch (name.substring(0, Math.max(0, dash))) {
            case "limiter" -> OurContender.ofOwnClient(what, task);
            case "limiter-app-tuned" -> OurContender.ofTunedClientOfTheApplication(what, task);
            case "redisson" -> new RedissonContender(what, task);
            case "limiter-on-lettuce" -> OurContender.overLettuce(what, task);
            case "limiter-by-api" -> OurContender.byPublicApi(what, task);
            case "limiter-no-cache" -> OurContender.withoutMemory(what, task);
            case "limiter-app" -> OurContender.ofClientOfTheApplication(what, task);
            case "lettuce" -> LettuceContender.ofOurScripts(what, task);
            default ->
                switch (name) {
                    case "gcra" -> LettuceContender.ofGcra(task);
                    case "increx" -> LettuceContender.ofIncrex(task);
                    case "rrl" -> new RateLimiterContender(task, false);
                    case "rrl-tuned" -> new RateLimiterContender(task, true);
                    default -> Bucket4jContender.of(name, task);
                };
        };
    }

    /** The flags of an answer that Redis gave. */
    static int byRedis(boolean allowed) {
        return BY_REDIS | (allowed ? ALLOWED : 0);
    }
}
