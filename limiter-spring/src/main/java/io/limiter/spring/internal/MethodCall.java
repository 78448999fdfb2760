package io.limiter.spring.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
public final class MethodCall {
    /** The object of the call; null for a static method. */
    final @Nullable Object target;

    final @Nullable Object[] arguments;
    final Rest rest;

    /** A call of this object with these arguments. */
    public MethodCall(@Nullable Object target, @Nullable Object[] arguments, Rest rest) {
        this.target = target;
        this.arguments = arguments;
        this.rest = rest;
    }

    /** What remains of a call. */
    @FunctionalInterface
    public interface Rest {
        /** Calls the method, possibly on another thread, at most once. */
        @Nullable
        Object proceed() throws Throwable;

        /** Calls another method of the object. */
        default @Nullable Object call(Method method, @Nullable Object target, @Nullable Object... arguments)
                throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause() == null ? thrown : thrown.getCause();
            }
        }

        /** A copy for another call. */
        default Rest again() {
            return this;
        }
    }
}
