package io.limiter.spring.internal;

import io.limiter.Decision;
import java.util.function.Consumer;

/** Observes decisions about calls of limited methods, for example to add them to a trace. Thread-safe. */
@FunctionalInterface
public interface CallObserver {
    /**
     * Called on the caller's thread before a call is decided. The returned object gets the decision, if there is one,
     * possibly on another thread. Neither may throw.
     */
    Consumer<? super Decision> begin();
}
