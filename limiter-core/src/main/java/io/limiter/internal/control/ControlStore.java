package io.limiter.internal.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the instances of a group find what is published. Each method waits for the answer, a few seconds at most, so decisions
 * never call it. Thread-safe. Each method throws {@link io.limiter.BackendException} if there is no answer, or an error.
 */
public interface ControlStore extends AutoCloseable {
    /**
     * The text of a key; null if there is none. More than one byte too many is not read.
     *
     * @throws IllegalArgumentException if it has more bytes
     */
    @Nullable
    String get(String key, int mostBytes);

    /** The first members of a sorted set above a score, in their order, at most so many. */
    List<String> above(String key, long score, int most);

    /** The fields of a hash. */
    Map<String, String> fields(String key);

    /** The last entries of a log, the newest first. */
    List<String> log(String key, int most);

    /** Runs the script {@code control_NAME.lua}, which may write. Its reply as texts. */
    List<String> run(String name, List<String> keys, List<String> arguments);

    /** Whether the user of this connection may write a key: shown by commands that change nothing. */
    boolean mayWrite(String key, String unused);

    @Override
    void close();
}
