package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** A backend without any state, and a limiter on it, at a time that the test sets. JUnit closes it after the test. */
public final class OpenBackend implements AutoCloseable {
    public final ManualTime time = new ManualTime();
    public final Backend backend;
    public final RateLimiter limiter;
    private final String name;

    OpenBackend(TestedBackend tested) {
        name = tested.name();
        backend = tested.open(time);
        limiter = RateLimiters.on(backend);
    }

    static Stream<OpenBackend> all() {
        return Backends.all().stream().map(OpenBackend::new);
    }

    static Stream<OpenBackend> withBothClients() {
        return Backends.withSentinel().stream().map(OpenBackend::new);
    }

    /** Each of these values with each backend. */
    public static Stream<Arguments> with(Collection<?> values) {
        return values.stream().flatMap(value -> all().map(backend -> Arguments.of(value, backend)));
    }

    public Decision take(Charge... charges) {
        return limiter.tryAcquire(PermitRequest.of(List.of(charges)));
    }

    public boolean takes(Charge... charges) {
        return take(charges).allowed();
    }

    public Decision look(Charge... charges) {
        return limiter.tryAcquire(PermitRequest.of(List.of(charges)).withLook());
    }

    /** The permits of the limit that has the fewest. */
    public long left(Policy policy, PartitionKey key) {
        return Looks.left(limiter, policy, key);
    }

    @Override
    public void close() {
        limiter.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
