package io.limiter.spring.expression;

import org.jspecify.annotations.Nullable;

/** Something wrong with an annotation, or with what a call made of it. The codes are those of docs/diagnostics.md. */
public final class AnnotationError {
    private AnnotationError() {}

    /** An exception that names the method, what is wrong, and the remedy. */
    public static IllegalStateException at(Object method, String code, String text) {
        return at(method, code, text, null);
    }

    /** The same, with what it was found by. */
    public static IllegalStateException at(Object method, String code, String text, @Nullable Throwable cause) {
        return new IllegalStateException(code + " @RateLimited at " + method + ": " + text, cause);
    }
}
