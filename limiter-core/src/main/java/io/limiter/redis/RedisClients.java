package io.limiter.redis;

import java.util.concurrent.ScheduledExecutorService;

/** The Redis to use, and how the way to it is made by one of the clients. Immutable. */
interface RedisClients {
    /** A name that leads to another address counts within this time, and so does a change of a cluster. */
    int TOPOLOGY_MILLIS = 1_000;

    /** By the factor of the attempt. */
    int CONNECT_TIMEOUT_MILLIS = 500;

    int TIMEOUT_MILLIS = 1_000;

    /** On a starved machine a connection takes long: the times are doubled after 4, 8 and 16 attempts. */
    int LONGEST_FACTOR = 8;

    /** Each failed attempt leaves some kilobytes in a client of Redisson, so it is replaced every few minutes. */
    int ATTEMPTS_OF_A_CLIENT = 500;

    /** The name of this Redis in messages. */
    String name();

    /** Whether it is addressed by TLS. */
    boolean isTls();

    /**
     * The way to this Redis, which may not be connected yet.
     *
     * @param attempt the number of the attempt to connect, from 1 on
     */
    Transport make(ScheduledExecutorService timer, int attempt);

    /** By this all times are longer within which something must answer. */
    static int factor(int attempt) {
        return Math.min(LONGEST_FACTOR, Math.max(1, Integer.highestOneBit(attempt) / 2));
    }

    /**
     * Whether this attempt to connect needs another client than the one before.
     *
     * @param tookMicros how long that took until it failed
     */
    static boolean makesAnother(int attempt, long tookMicros) {
        boolean takesLonger = attempt >= 4 && attempt <= 2 * LONGEST_FACTOR && Integer.bitCount(attempt) == 1;
        return (takesLonger && tookMicros >= CONNECT_TIMEOUT_MILLIS * 1_000L) || attempt % ATTEMPTS_OF_A_CLIENT == 0;
    }
}
