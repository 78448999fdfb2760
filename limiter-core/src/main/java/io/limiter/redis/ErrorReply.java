package io.limiter.redis;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Redis replied with an error: its text, as any client's exception has it. Everything else that a {@link Transport} fails with is no answer. */
class ErrorReply extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int DEEPEST_CAUSE = 10;

    ErrorReply(String reply) {
        this(reply, null);
    }

    private ErrorReply(String reply, @Nullable Throwable cause) {
        super(reply, cause, false, false);
    }

    /**
     * The error reply that a client's exception contains, with that exception as its cause; the exception itself if it contains none.
     *
     * @param reply the text of the reply for an exception that has one, null for another; asked about its causes too
     */
    static Throwable of(Throwable failure, Function<Throwable, @Nullable String> reply) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            String text = reply.apply(cause);
            if (text != null) {
                return new ErrorReply(text, failure);
            }
            cause = cause.getCause();
        }
        return failure;
    }
}
