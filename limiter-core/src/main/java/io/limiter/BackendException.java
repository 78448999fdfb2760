package io.limiter;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The backend gave no decision. Whether it counted is unknown. Its message begins with a code of {@code
 * docs/diagnostics.md} and contains no keys or arguments, which are client data; the cause may contain them. It has no
 * stack trace: while a backend is unreachable, every call makes one.
 */
public class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why there is no decision. */
    public enum Kind {
        /** An outage: the backend is unreachable, or replies that it can't decide for now. */
        UNAVAILABLE,
        /** No answer came in time; whether the backend is unreachable or only slow is not known yet. */
        LATE,
        /**
         * The backend works, but it or this JVM is overloaded. Not an outage: a client that sends too many calls must
         * not escape the limits that way.
         */
        OVERLOADED,
        /** A fault that waiting does not fix: foreign data under a key, a missing permission, a script that fails. */
        FAULT
    }

    private final Kind kind;

    /** With why, what happened and its cause. */
    public BackendException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /** An outage: with what happened. */
    public BackendException(String message) {
        this(Kind.UNAVAILABLE, message, null);
    }

    /** Why there is no decision. */
    public Kind kind() {
        return kind;
    }

    /** The exception that callers get for a failure: the cause of those that a future adds, or RL-229. For this library. */
    public static BackendException of(Throwable thrown) {
        Throwable cause = thrown;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof BackendException known
                ? known
                : new BackendException(
                        BackendException.Kind.FAULT,
                        "RL-229 the backend failed: " + cause.getClass().getName(),
                        cause);
    }

    /**
     * Waits for an answer, at most for the backend's deadline; an interrupt does not shorten that and is kept. For this
     * library.
     *
     * @throws BackendException if there is none
     */
    public static <T> T join(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw of(e);
        }
    }
}
