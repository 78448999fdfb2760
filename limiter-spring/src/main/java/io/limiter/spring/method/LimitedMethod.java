package io.limiter.spring.method;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Everything that is known about a limited method before it is called. Thread-safe. */
public record LimitedMethod(LimitedCall.Terms terms, Invoker invoker) {
    /** Calls the method if it is allowed, depending on its return type. */
    public @Nullable Object call(MethodCall call) throws Throwable {
        LimitedCall limited = LimitedCall.of(call, terms);
        return limited == null ? call.proceed() : invoker.invoke(limited);
    }

    /** The method that runs. */
    public Method method() {
        return terms.scope().method();
    }
}
