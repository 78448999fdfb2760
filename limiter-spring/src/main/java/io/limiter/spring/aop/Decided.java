package io.limiter.spring.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A call that is decided and goes on, on this thread, to a method that is woven as well: there it must not be decided again. That is
 * the method itself, when a proxy has decided, and the one that it overrides, when it calls that of its superclass. A
 * method that calls itself anew is another call.
 */
final class Decided {
    private static final ThreadLocal<@Nullable Decided> GOING_ON = new ThreadLocal<>();

    private final Method method;
    private final @Nullable Object target;
    private final @Nullable Decided before;
    /** The class whose code the call has come to; null on its way to the first. */
    private @Nullable Class<?> reached;

    private Decided(Method method, @Nullable Object target, @Nullable Class<?> reached, @Nullable Decided before) {
        this.method = method;
        this.target = target;
        this.reached = reached;
        this.before = before;
    }

    /** Marks a call that a proxy has decided; {@link #isOver} takes the mark away. */
    static Decided byProxy(Method method, @Nullable Object target) {
        return mark(new Decided(method, target, null, GOING_ON.get()));
    }

    /** Marks a call that was decided where it is woven. */
    static Decided whereWoven(Method method, @Nullable Object target) {
        return mark(new Decided(method, target, method.getDeclaringClass(), GOING_ON.get()));
    }

    private static Decided mark(Decided call) {
        GOING_ON.set(call);
        return call;
    }

    /** Whether the call that comes to this woven method is decided already; true once for each class above the last. */
    static boolean includes(Method woven, @Nullable Object target) {
        Decided call = GOING_ON.get();
        if (call == null || call.target != target || !call.isOf(woven)) {
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

    private boolean isOf(Method woven) {
        return woven.equals(method)
                || (woven.getName().equals(method.getName())
                        && Arrays.equals(woven.getParameterTypes(), method.getParameterTypes()));
    }

    /** The call is over. */
    void isOver() {
        if (before == null) {
            GOING_ON.remove();
        } else {
            GOING_ON.set(before);
        }
    }
}
