package io.limiter.spring.method;

import org.jspecify.annotations.Nullable;

/** A mistake in an annotation, or in its values for a call. The codes are those of docs/diagnostics.md. */
public final class AnnotationError {
    private AnnotationError() {}

    /** An exception that names the method, what is wrong, and the remedy. */
    public static IllegalStateException at(Object method, String code, String text) {
        return at(method, code, text, null);
    }

    /** The same, with a cause. */
    public static IllegalStateException at(Object method, String code, String text, @Nullable Throwable cause) {
        return new IllegalStateException(code + " @RateLimited at " + method + ": " + text, cause);
    }
}
