package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.TimeSource;
import java.util.function.Function;

/**
 * A backend that keeps the contract.
 *
 * @param name how reports call it
 * @param opener makes a backend without any state, on a time source
 */
public record TestedBackend(String name, Function<TimeSource, Backend> opener) {
    /** A backend without any state. */
    public Backend open(TimeSource time) {
        return opener.apply(time);
    }

    @Override
    public String toString() {
        return name;
    }
}
