package io.limiter.spring.call;

import io.limiter.Decision;
import java.util.function.Consumer;

/** Learns what is decided about calls of limited methods, to note it in a trace for instance. Thread-safe. */
@FunctionalInterface
public interface CallObserver {
    /** Learns nothing. */
    CallObserver NONE = () -> decision -> {};

    /**
     * Called on the caller's thread before a call is decided. What it returns gets the decision, if there is one, on the thread that has
     * it by then, which may be another one. Neither may throw.
     */
    Consumer<? super Decision> begin();
}
