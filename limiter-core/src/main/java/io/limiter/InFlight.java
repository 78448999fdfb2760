package io.limiter;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * A call in flight: it holds the permits of {@linkplain Limit#concurrent concurrent} limits until it is closed. Thread-safe.
 *
 * <pre>{@code
 * try (InFlight call = limiter.enter(policy, key, 1)) {
 *     if (call.allowed()) {
 *         ...
 *     }
 * }
 * }</pre>
 */
public final class InFlight implements AutoCloseable {
    private final Decision decision;
    private final Consumer<? super Decision> end;

    /** @param end ends the call */
    InFlight(Decision decision, Consumer<? super Decision> end) {
        this.decision = Objects.requireNonNull(decision, "decision");
        this.end = end;
    }

    /** The answer. */
    public Decision decision() {
        return decision;
    }

    /** Whether the call may go on. */
    public boolean allowed() {
        return decision.allowed();
    }

    /** Ends the call, once, without waiting for the backend. What rates have counted stays. Does nothing if it was denied. Never throws. */
    @Override
    public void close() {
        end.accept(decision);
    }

    @Override
    public String toString() {
        return "InFlight[" + decision + "]";
    }
}
