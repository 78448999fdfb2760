package io.limiter;

/** The backend gave no decision: it is away, it failed or it missed its deadline. Whether it counted is unknown. */
public class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With what happened and its cause. */
    public BackendException(String message, Throwable cause) {
        super(message, cause);
    }

    /** With what happened. */
    public BackendException(String message) {
        super(message);
    }
}
