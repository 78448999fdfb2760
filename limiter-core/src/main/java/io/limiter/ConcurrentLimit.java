package io.limiter;

import io.limiter.internal.LimitSpec;
import org.jspecify.annotations.Nullable;

/** A cap on calls in flight. Its period is how long the permits of an instance that died are kept. */
final class ConcurrentLimit extends Limit {
    ConcurrentLimit(@Nullable String name, LimitSpec spec) {
        super(name, spec);
    }
}
