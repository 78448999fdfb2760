package io.limiter.spring.method;

import io.limiter.RateLimiter;
import io.limiter.application.Derived;
import io.limiter.rule.ShadowCounter;
import io.limiter.spring.method.MethodRule.Charged;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is known about a limited method before it is called. Thread-safe.
 *
 * @param rules the rules of the current snapshot; also used after the end of the limiter
 */
public record LimitedMethod(
        MethodScope scope,
        RateLimiter limiter,
        ShadowCounter shadow,
        @Nullable Fallback fallback,
        CallObserver observer,
        Derived<MethodRules> rules,
        Invoker invoker) {
    /** Calls the method if it is allowed, depending on its return type. */
    public @Nullable Object call(MethodCall call) throws Throwable {
        List<Charged> charged = rules.get().charge(call);
        return charged.isEmpty() ? call.proceed() : invoker.invoke(new LimitedCall(this, call, charged));
    }
}
