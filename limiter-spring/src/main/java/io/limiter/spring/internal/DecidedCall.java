package io.limiter.spring.internal;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A call that a proxy has decided, and that goes on, on this thread, to a method that may also be woven: that one must not
 * decide it again. The first one of its name and parameters that it reaches in the object is that method, or the one that it overrides;
 * from there on each call is a new one.
 */
record DecidedCall(Method method, @Nullable Object target) {
    private static final ThreadLocal<@Nullable DecidedCall> CURRENT = new ThreadLocal<>();

    /** Begins this one, or with null ends one; returns the one that it is within, with which that ends. */
    static @Nullable DecidedCall replace(@Nullable DecidedCall next) {
        DecidedCall before = CURRENT.get();
        if (next == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(next);
        }
        return before;
    }

    /** Whether a call of a woven method is decided; true only once. */
    static boolean tryReach(Method woven, @Nullable Object target) {
        DecidedCall call = CURRENT.get();
        boolean isDecided = call != null
                && call.target == target
                && woven.getName().equals(call.method.getName())
                && Arrays.equals(woven.getParameterTypes(), call.method.getParameterTypes());
        if (isDecided) {
            CURRENT.remove();
        }
        return isDecided;
    }
}
