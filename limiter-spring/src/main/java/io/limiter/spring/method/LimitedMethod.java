package io.limiter.spring.method;

import io.limiter.Derived;
import io.limiter.Limiter;
import io.limiter.spring.call.AnnotatedPolicy;
import io.limiter.spring.call.Fallback;
import io.limiter.spring.call.Invoker;
import io.limiter.spring.call.LimitedCall;
import io.limiter.spring.call.MethodRules;
import io.limiter.spring.call.ShadowCounter;
import io.limiter.spring.expression.MethodCall;
import io.limiter.spring.expression.MethodScope;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Everything that is known of a limited method before it is called. Thread-safe. */
public final class LimitedMethod {
    private final LimitedCall.Terms terms;
    private final Invoker invoker;
    private final Derived<MethodRules> rules;
    /** The rules of the end: calls may come after it. Null until then. */
    private volatile @Nullable MethodRules last;

    LimitedMethod(
            Limiter limiter,
            MethodScope scope,
            ShadowCounter shadow,
            @Nullable Fallback fallback,
            Invoker invoker,
            Derived<MethodRules> rules) {
        this.terms = new LimitedCall.Terms(scope, limiter.rateLimiter(), shadow, fallback, this::rules);
        this.invoker = invoker;
        this.rules = rules;
    }

    /** Calls the method if it may be called, in the way of what it returns. */
    public @Nullable Object call(MethodCall call) throws Throwable {
        LimitedCall limited = LimitedCall.of(call, terms);
        return limited == null ? call.proceed() : invoker.invoke(limited);
    }

    /** The method that runs. */
    public Method method() {
        return terms.scope().method();
    }

    /** What its annotations say, in their order. */
    List<AnnotatedPolicy> policies() {
        return rules().described();
    }

    private MethodRules rules() {
        MethodRules ended = last;
        return ended == null ? rules.get() : ended;
    }

    /** It takes no part in what replaces the configuration from now on. */
    void close() {
        if (last == null) {
            last = rules.get();
            rules.close();
        }
    }
}
