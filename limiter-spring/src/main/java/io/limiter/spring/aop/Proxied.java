package io.limiter.spring.aop;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A call that a proxy has decided and that is on its way, on this thread, to a method that may be woven as well: there it
 * must not be decided again.
 */
final class Proxied {
    private static final ThreadLocal<@Nullable Proxied> ON_ITS_WAY = new ThreadLocal<>();

    private final Method method;
    private final @Nullable Object target;
    private final @Nullable Proxied before;

    private Proxied(Method method, @Nullable Object target, @Nullable Proxied before) {
        this.method = method;
        this.target = target;
        this.before = before;
    }

    /** Marks a call; {@link #arrived} takes the mark away, at the latest when the call is over. */
    static Proxied leave(Method method, @Nullable Object target) {
        Proxied call = new Proxied(method, target, ON_ITS_WAY.get());
        ON_ITS_WAY.set(call);
        return call;
    }

    /** Whether a proxy has decided this call; true once. */
    static boolean isDecided(Method method, @Nullable Object target) {
        Proxied call = ON_ITS_WAY.get();
        if (call == null || call.target != target || !call.method.equals(method)) {
            return false;
        }
        call.arrived();
        return true;
    }

    void arrived() {
        if (ON_ITS_WAY.get() == this) {
            if (before == null) {
                ON_ITS_WAY.remove();
            } else {
                ON_ITS_WAY.set(before);
            }
        }
    }
}
