package io.limiter.spring.call;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** What is in the wrappers that asynchronous code puts around a failure. */
final class Failures {
    private Failures() {}

    /** What it holds, where it is such a wrapper; else null. */
    static @Nullable Throwable wrappedBy(Throwable thrown) {
        return thrown instanceof CompletionException || thrown instanceof ExecutionException ? thrown.getCause() : null;
    }

    static Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown;
        for (Throwable next = wrappedBy(cause); next != null; next = wrappedBy(cause)) {
            cause = next;
        }
        return cause;
    }
}
