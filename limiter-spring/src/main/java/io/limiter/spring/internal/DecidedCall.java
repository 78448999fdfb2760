package io.limiter.spring.internal;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A decided call that continues, on this thread, to a method that is also woven: it must not be decided again there.
 * That is the method itself, if a proxy has decided, and the method that it overrides, if it calls that of its
 * superclass. A recursive call is a new call.
 */
final class DecidedCall {
    private static final ThreadLocal<@Nullable DecidedCall> CURRENT = new ThreadLocal<>();

    private final Method method;
    private final @Nullable Object target;
    /** The class with the code that the call has reached; null on its way to the first. */
    private @Nullable Class<?> reached;

    private DecidedCall(Method method, @Nullable Object target, @Nullable Class<?> reached) {
        this.method = method;
        this.target = target;
        this.reached = reached;
    }

    /**
     * Continues a decided call.
     *
     * @param reached the class with the code that it has reached; null if a proxy has decided
     */
    public static @Nullable Object proceed(
            Method method, @Nullable Object target, @Nullable Class<?> reached, MethodCall.Rest rest) throws Throwable {
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
     * Continues to a woven method, if the call is already decided.
     *
     * @return false for a new call; true once for each superclass
     */
    static boolean tryReach(Method woven, @Nullable Object target) {
        DecidedCall call = CURRENT.get();
        if (call == null || call.target != target || !WovenMethods.isSameSignature(woven, call.method)) {
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
