package io.limiter.redis;

/** Redis replied with an error: its text, as any client's exception has it. Everything else that a {@link Transport} fails with is no answer. */
class ErrorReply extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ErrorReply(String reply) {
        super(reply, null, false, false);
    }

    /** @param cause the exception of the client */
    ErrorReply(String reply, Throwable cause) {
        super(reply, cause, false, false);
    }
}
