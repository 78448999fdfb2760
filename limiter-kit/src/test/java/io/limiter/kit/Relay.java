package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.internal.backend.ForwardingBackend;

/** A backend that passes each call on to another one, but for those that a test changes. */
public class Relay extends ForwardingBackend {
    private final Backend inner;

    public Relay(Backend inner) {
        this.inner = inner;
    }

    @Override
    protected final Backend inner() {
        return inner;
    }
}
