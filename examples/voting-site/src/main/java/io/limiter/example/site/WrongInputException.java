package io.limiter.example.site;

/** A request can't be executed. The message states what was wrong, the value, and what to send instead. */
public final class WrongInputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String field;

    /** A mistake in a field of the request's body. */
    public WrongInputException(String field, String message) {
        super(message, null, false, false);
        this.field = field;
    }

    /** The field. */
    public String field() {
        return field;
    }
}
