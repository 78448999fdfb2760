package io.limiter.redis;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The way to the masters of a Redis, and the clock of those who wait for them. Apart from the first connection, and the
 * end, no method blocks. Thread-safe.
 */
interface Transport extends AutoCloseable {
    /** Whether the keys of one command must share a slot. */
    boolean isCluster();

    /**
     * The master that has the key. The same object as long as it is the master.
     *
     * @throws io.limiter.BackendException if that is not known
     */
    Object master(String key);

    /** All masters that are known now. */
    Collection<?> masters();

    /** The name of a master in messages: host and port. */
    String name(Object master);

    /** Settings that make the limiter slower, or slow to notice that a connection is dead, each with what to write. */
    default List<String> slowSettings() {
        return List.of();
    }

    /**
     * Sends a command to a master; the receiver may be called on any thread. A command of one call follows its key to the master that
     * has it now; one of several fails with {@code MOVED} or {@code ASK}.
     */
    void run(Object master, Command command, Command.Receiver receiver);

    /** Calls this whenever the connection to a master closes by itself. The call must not block. */
    default void onLost(Object master, Runnable listener) {}

    /** Replaces the connections to a master, whose address may lead to another server. Returns whether what is sent now takes a later one. */
    default boolean renew(Object master) {
        return false;
    }

    /**
     * The same by another connection, if there is one. If that has an answer, and the one of {@link #run} has none, the latter is replaced.
     */
    default void probe(Object master, Command command, Command.Receiver receiver) {
        run(master, command, receiver);
    }

    /**
     * Sends a command that is no decision to the master that has a key, at most once.
     *
     * @param words {@code GETRANGE} from the beginning, {@code HGETALL} or {@code EVAL}, and what follows that
     * @return the values of its reply
     */
    CompletableFuture<? extends List<?>> ask(String key, List<String> words);

    /** Whether commands go to the named master, whatever their keys are, and these as they are written. */
    default boolean isDirect() {
        return true;
    }

    /** Runs a task that never blocks after some time; no tasks after the connection is closed. */
    void after(long micros, Runnable task);

    /**
     * How late the threads run on which answers arrive, in microseconds: if this JVM has no time to read an answer (it
     * compiles, loads classes, collects garbage or lacks processors), the answer is late, but Redis is not.
     *
     * @param longestMicros the maximum result, if such a thread does not run at all
     */
    CompletableFuture<Long> latenessMicros(long longestMicros);

    /** Ends the connections, unless they are the application's. */
    @Override
    void close();
}
