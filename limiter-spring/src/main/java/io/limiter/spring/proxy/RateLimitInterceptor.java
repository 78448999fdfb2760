package io.limiter.spring.proxy;

import io.limiter.spring.aop.DecidedCall;
import io.limiter.spring.expression.MethodCall;
import io.limiter.spring.method.LimitedMethod;
import io.limiter.spring.method.LimitedMethods;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Limits the methods of a bean where its proxy is called. */
record RateLimitInterceptor(Supplier<LimitedMethods> methods) implements MethodInterceptor {
    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        LimitedMethod method = limited(invocation);
        return method == null ? invocation.proceed() : method.call(new ProxiedCall(invocation));
    }

    /**
     * Marks a call on the last step of its way to a woven method. It was decided by {@link #invoke}; between the two it may have
     * come to another thread.
     */
    @Nullable
    Object arrive(MethodInvocation invocation) throws Throwable {
        LimitedMethod method = limited(invocation);
        return method == null
                ? invocation.proceed()
                : DecidedCall.proceed(method.method(), invocation.getThis(), null, invocation::proceed);
    }

    private @Nullable LimitedMethod limited(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        return methods.get().of(invocation.getMethod(), type);
    }

    private record ProxiedCall(MethodInvocation invocation) implements MethodCall {
        @Override
        public @Nullable Object target() {
            return invocation.getThis();
        }

        @Override
        public @Nullable Object[] arguments() {
            return invocation.getArguments();
        }

        @Override
        public @Nullable Object proceed() throws Throwable {
            return invocation.proceed();
        }

        /** An invocation remembers which interceptor comes next, so each time needs one of its own. */
        @Override
        public MethodCall again() {
            return invocation instanceof ProxyMethodInvocation proxied
                    ? new ProxiedCall(proxied.invocableClone())
                    : this;
        }
    }
}
