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
        LimitedMethod method = limited(invocation);
        return method == null ? invocation.proceed() : method.call(new InvokedCall(invocation));
    }

    /**
     * Marks calls on the last step of their way to a woven method. The first interceptor has decided them; between the two
     * they may have come to another thread.
     */
    @Nullable
    Object arrive(MethodInvocation invocation) throws Throwable {
        LimitedMethod method = limited(invocation);
        if (method == null || !method.site().looksWoven()) {
            return invocation.proceed();
        }
        Decided mark = Decided.byProxy(method.site().method(), invocation.getThis());
        try {
            return invocation.proceed();
        } finally {
            mark.isOver();
        }
    }

    private @Nullable LimitedMethod limited(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        return methods.get().of(invocation.getMethod(), type);
    }

    /** A call through a proxy. */
    private static final class InvokedCall extends MethodCall {
        private final MethodInvocation invocation;

        InvokedCall(MethodInvocation invocation) {
            this.invocation = invocation;
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
            return invocation.proceed();
        }

        @Override
        @Nullable
        Object proceedAgain() throws Throwable {
            // An invocation remembers which interceptor comes next, so each time needs one of its own.
            return invocation instanceof ProxyMethodInvocation proxied
                    ? proxied.invocableClone().proceed()
                    : invocation.proceed();
        }
    }
}
