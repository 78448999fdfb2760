package io.limiter.spring.aop;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A call that is decided and goes on, on this thread, to a method that is woven as well: there it must not be decided again. That is
 * the method itself, when a proxy has decided, and the one that it overrides, when it calls that of its superclass. A
 * method that calls itself anew is another call.
 */
public final class DecidedCall {
    private static final ThreadLocal<@Nullable DecidedCall> CURRENT = new ThreadLocal<>();

    private final Method method;
    private final @Nullable Object target;
    /** The class whose code the call has come to; null on its way to the first. */
    private @Nullable Class<?> reached;

    private DecidedCall(Method method, @Nullable Object target, @Nullable Class<?> reached) {
        this.method = method;
        this.target = target;
        this.reached = reached;
    }

    /** The rest of a call. */
    @FunctionalInterface
    public interface Rest {
        /** Makes it. */
        @Nullable
        Object proceed() throws Throwable;
    }

    /**
     * Goes on with a call that is decided.
     *
     * @param reached the class whose code it has come to; null where a proxy has decided
     */
    public static @Nullable Object proceed(
            Method method, @Nullable Object target, @Nullable Class<?> reached, Rest rest) throws Throwable {
        DecidedCall before = CURRENT.get();
        CURRENT.set(new DecidedCall(method, target, reached));
        try {
            return rest.proceed();
        } finally {
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }

    /**
     * Goes on to a woven method, if the call that comes there is decided already.
     *
     * @return false for a call of its own; true once for each class above the last
     */
    static boolean tryReach(Method woven, @Nullable Object target) {
        DecidedCall call = CURRENT.get();
        if (call == null || call.target != target || !WovenClasses.isSameSignature(woven, call.method)) {
            return false;
        }
        Class<?> type = woven.getDeclaringClass();
        Class<?> reached = call.reached;
        boolean isNext = reached == null
                ? type.isAssignableFrom(call.method.getDeclaringClass())
                : type != reached && type.isAssignableFrom(reached);
        if (isNext) {
            call.reached = type;
        }
        return isNext;
    }
}
