package io.limiter.spring.internal;

import java.lang.reflect.Method;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/** Limits calls of a bean's methods through its proxy. Thread-safe. */
final class RateLimitInterceptor implements MethodInterceptor {
    private final Supplier<CallLimiters> limiters;
    /** The last lookup: always the same one, if each method of a proxy has an interceptor of its own. */
    private @Nullable Known last;

    private record Known(
            Method called, Class<?> target, @Nullable CallLimiter limited) {}

    RateLimitInterceptor(Supplier<CallLimiters> limiters) {
        this.limiters = limiters;
    }

    /** A proxy gets the advice once for each of its methods. */
    static Advisor advisor(BiPredicate<Method, Class<?>> matcher, Supplier<MethodInterceptor> advice) {
        return new StaticMethodMatcherPointcutAdvisor(advice.get()) {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                return matcher.test(method, targetClass);
            }

            @Override
            public Advice getAdvice() {
                return advice.get();
            }
        };
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        CallLimiter limiter = limited(invocation);
        return limiter == null ? invocation.proceed() : limiter.call(call(invocation, limiter));
    }

    private static MethodCall call(MethodInvocation invocation, CallLimiter limiter) {
        return new MethodCall(targetOf(invocation, limiter), invocation.getArguments()) {
            @Override
            public @Nullable Object proceed() throws Throwable {
                // A default method may be woven, and advice of others calls it: they do not arrive.
                return limiter.method().isDefault() ? arrived(invocation, limiter) : invocation.proceed();
            }

            /** As Spring calls a method: a suspend function as a Mono, in the context of its caller. */
            @Override
            @Nullable
            Object call(Method method, @Nullable Object... others) throws Throwable {
                return AopUtils.invokeJoinpointUsingReflection(target, method, others);
            }

            /** An invocation stores its next interceptor, so each call needs a copy. */
            @Override
            MethodCall again() {
                return invocation instanceof ProxyMethodInvocation proxied
                        ? RateLimitInterceptor.call(proxied.invocableClone(), limiter)
                        : this;
            }
        };
    }

    /**
     * Marks a call on its last step to a woven method. It was decided by {@link #invoke}; it may have moved to another
     * thread since.
     */
    @Nullable
    Object arrive(MethodInvocation invocation) throws Throwable {
        CallLimiter limiter = limited(invocation);
        return limiter == null ? invocation.proceed() : arrived(invocation, limiter);
    }

    private static @Nullable Object arrived(MethodInvocation invocation, CallLimiter limiter) throws Throwable {
        DecidedCall before = DecidedCall.replace(new DecidedCall(limiter.method(), targetOf(invocation, limiter)));
        try {
            return invocation.proceed();
        } finally {
            DecidedCall.replace(before);
        }
    }

    /** The object that has the method, or its fallback: the proxy, if these are of an interface that only the proxy has. */
    private static @Nullable Object targetOf(MethodInvocation invocation, CallLimiter limiter) {
        Method needed = limiter.fallback() == null
                ? limiter.method()
                : limiter.fallback().method();
        return invocation instanceof ProxyMethodInvocation proxied
                        && !needed.getDeclaringClass().isInstance(invocation.getThis())
                ? proxied.getProxy()
                : invocation.getThis();
    }

    private @Nullable CallLimiter limited(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Method called = invocation.getMethod();
        Class<?> type = target == null ? called.getDeclaringClass() : target.getClass();
        Known known = last;
        if (known != null && known.called == called && known.target == type) {
            return known.limited;
        }
        CallLimiter limited = limiters.get()
                .of(
                        called,
                        target == null ? type : AopUtils.getTargetClass(target),
                        invocation instanceof ProxyMethodInvocation proxied ? proxied.getProxy() : null);
        if (!(target instanceof TargetClassAware)) {
            // The class of a proxy does not show its target.
            last = new Known(called, type, limited);
        }
        return limited;
    }
}
