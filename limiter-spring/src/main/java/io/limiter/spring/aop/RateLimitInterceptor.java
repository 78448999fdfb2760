package io.limiter.spring.aop;

import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Limits the methods of a bean where its proxy is called. */
final class RateLimitInterceptor implements MethodInterceptor {
    private final Supplier<LimitedMethods> methods;

    RateLimitInterceptor(Supplier<LimitedMethods> methods) {
        this.methods = methods;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LimitedMethod method = methods.get().of(invocation.getMethod(), type);
        return method == null ? invocation.proceed() : method.call(new InvokedCall(invocation, method.site()));
    }

    /** A call through a proxy. */
    private static final class InvokedCall extends MethodCall {
        private final MethodInvocation invocation;
        private final MethodSite site;

        InvokedCall(MethodInvocation invocation, MethodSite site) {
            this.invocation = invocation;
            this.site = site;
        }

        @Override
        @Nullable
        Object target() {
            return invocation.getThis();
        }

        @Override
        @Nullable
        Object[] arguments() {
            return invocation.getArguments();
        }

        @Override
        @Nullable
        Object proceed() throws Throwable {
            return proceed(invocation);
        }

        @Override
        @Nullable
        Object proceedAgain() throws Throwable {
            // An invocation remembers which interceptor comes next, so each time needs one of its own.
            return proceed(invocation instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : invocation);
        }

        private @Nullable Object proceed(MethodInvocation next) throws Throwable {
            if (!site.looksWoven()) {
                return next.proceed();
            }
            Proxied mark = Proxied.leave(site.method(), next.getThis());
            try {
                return next.proceed();
            } finally {
                mark.arrived();
            }
        }
    }
}
