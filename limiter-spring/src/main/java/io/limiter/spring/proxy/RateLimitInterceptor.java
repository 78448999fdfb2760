package io.limiter.spring.proxy;

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
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LimitedMethod method = methods.get().of(invocation.getMethod(), type);
        return method == null ? invocation.proceed() : method.call(new ProxiedCall(invocation));
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
