package io.limiter.spring.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
public abstract class MethodCall {
    /** The object of the call; null for a static method. */
    final @Nullable Object target;

    final @Nullable Object[] arguments;

    /** A call of this object with these arguments. */
    protected MethodCall(@Nullable Object target, @Nullable Object[] arguments) {
        this.target = target;
        this.arguments = arguments;
    }

    /** Calls the method, possibly on another thread, at most once. */
    public abstract @Nullable Object proceed() throws Throwable;

    /** Calls another method of the object. */
    @Nullable
    Object call(Method method, @Nullable Object... others) throws Throwable {
        try {
            return method.invoke(target, others);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() == null ? thrown : thrown.getCause();
        }
    }

    /** The same call once more. */
    MethodCall again() {
        return this;
    }
}
