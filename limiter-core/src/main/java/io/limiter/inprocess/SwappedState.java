package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A state that is one immutable value, changed by compare-and-set: a decision by this state alone never waits for
 * another thread that lost its processor, except while several states are decided together.
 *
 * @param <V> the value
 */
abstract class SwappedState<V> extends State {
    private static final Object DROPPED = new Object();
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(SwappedState.class, "value", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A value while the state is held: the holder's alone. */
    private record Held(Object inner) {}

    private volatile Object value;

    SwappedState(@Nullable Room room, @Nullable PartitionKey key, V initial) {
        super(room, key);
        this.value = initial;
    }

    /** Fills in what a value holds, and whether the ask is allowed. */
    abstract void look(V standing, Ask ask);

    /** The value after the charge of an ask that was looked at. */
    abstract V charged(Ask ask);

    /** The value that fits the present clock and limit of an ask that was looked at, or null where what is stored does. */
    abstract @Nullable V settled(V stored, Ask ask);

    /** The value after a refund of an ask that was looked at, or null when nothing is given back. */
    abstract @Nullable V refunded(V standing, Ask ask, long stamp);

    /** The value of a key that took nothing. */
    abstract V full();

    abstract long fullAtMicros(V standing);

    @Override
    final boolean decideAlone(Ask ask) {
        int turns = 0;
        while (true) {
            Object seen = value;
            if (seen == DROPPED) {
                return false;
            }
            if (seen instanceof Held) {
                turns = pause(turns);
                continue;
            }
            look(cast(seen), ask);
            Object next = seen;
            if (ask.allowed && ask.charge.permits() > 0) {
                V charged = charged(ask);
                next = ask.take ? charged : seen;
            } else if (ask.takes()) {
                V settled = settled(cast(seen), ask);
                next = settled == null ? seen : settled;
            }
            if (next == seen || VALUE.compareAndSet(this, seen, next)) {
                describe(ask);
                return true;
            }
            Thread.onSpinWait();
        }
    }

    @Override
    final boolean hold() {
        int turns = 0;
        while (true) {
            Object seen = value;
            if (seen == DROPPED) {
                return false;
            }
            if (!(seen instanceof Held) && VALUE.compareAndSet(this, seen, new Held(seen))) {
                return true;
            }
            turns = pause(turns);
        }
    }

    @Override
    final void release() {
        if (value instanceof Held held) {
            value = held.inner;
        }
    }

    @Override
    final void look(Ask ask) {
        look(standing(), ask);
    }

    @Override
    final void charge(Ask ask) {
        V charged = charged(ask);
        if (ask.take) {
            value = new Held(charged);
        }
    }

    @Override
    final void settle(Ask ask) {
        V settled = settled(standing(), ask);
        if (settled != null) {
            value = new Held(settled);
        }
    }

    @Override
    final boolean back(Ask ask, long stamp) {
        V refunded = refunded(standing(), ask, stamp);
        if (refunded == null) {
            return false;
        }
        value = new Held(refunded);
        return true;
    }

    @Override
    final void clear() {
        value = new Held(full());
    }

    @Override
    final long fullAtMicros() {
        return fullAtMicros(standing());
    }

    @Override
    final void drop() {
        value = DROPPED;
    }

    private V standing() {
        return cast(value instanceof Held held ? held.inner : value);
    }

    @SuppressWarnings("unchecked") // only values of this state are ever stored
    private V cast(Object seen) {
        return (V) seen;
    }
}
