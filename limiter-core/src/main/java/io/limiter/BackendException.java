package io.limiter;

import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The backend gave no decision. Whether it counted is unknown. Its message begins with a code of {@code
 * docs/diagnostics.md} and holds neither keys nor arguments, which are client data; those may stand in the cause. It has no
 * stack trace of its own: while a backend is away there is one for each call.
 */
public class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why there is no decision. */
    public enum Kind {
        /** An outage: the backend is away, or says that it can't decide for now. */
        UNAVAILABLE,
        /** No answer came in time; whether the backend is away or was only slow is not known yet. */
        LATE,
        /**
         * The backend works, and this JVM asks more of it than it answers in time. No outage: who sends too many calls must
         * not get past the limits by it.
         */
        OVERLOADED,
        /** A mistake that waiting won't mend: foreign data under a key, a missing permission, a script that fails. */
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

    /** What a failure is to callers. */
    static BackendException of(Throwable thrown) {
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

    /** Waits, at most for the backend's deadline; an interrupt does not shorten that and is kept. */
    static <T> T result(Future<T> answer) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw of(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
