package io.limiter.spring.aop;

import io.limiter.DiagnosticLog;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ConcurrentReferenceHashMap.ReferenceType;

/** Makes the proxies of limited beans: which beans, which kind of proxy, and where their advice stands. Thread-safe. */
final class LimitProxies extends AbstractBeanFactoryAwareAdvisingPostProcessor {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = DiagnosticLog.of(io.limiter.spring.RateLimited.class);

    private final transient Supplier<LimitedMethods> methods;
    private final transient Advisor last;
    private final transient Map<Class<?>, Boolean> limited = new ConcurrentReferenceHashMap<>(64, ReferenceType.WEAK);

    private transient @Nullable ConfigurableListableBeanFactory beans;

    LimitProxies(Supplier<LimitedMethods> methods) {
        this.methods = methods;
        setProxyTargetClass(true);
        setBeforeExistingAdvisors(true);
        StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                return methods.get().of(method, targetClass) != null;
            }
        };
        RateLimitInterceptor interceptor = new RateLimitInterceptor(methods);
        this.advisor = new DefaultPointcutAdvisor(pointcut, interceptor);
        this.last = new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) interceptor::arrive);
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        super.setBeanFactory(factory);
        this.beans = factory instanceof ConfigurableListableBeanFactory known ? known : null;
    }

    /** Whether a bean has limits that nobody puts before it yet. */
    boolean isFor(Object bean) {
        // What a factory makes comes by itself, and the factory may be the description of a proxy.
        return !(bean instanceof FactoryBean) && !isLimitedInside(bean) && hasLimits(AopUtils.getTargetClass(bean));
    }

    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        return isFor(bean) ? super.postProcessAfterInitialization(bean, beanName) : bean;
    }

    @Override
    protected boolean isEligible(Class<?> targetClass) {
        return hasLimits(targetClass);
    }

    /**
     * Puts our advice first in a proxy, and the mark for woven methods last. Others may have put theirs before it since it
     * was made: {@code @Async} would have gone to another thread, away from the request.
     *
     * @return whether the bean has our advice, itself or in a proxy below
     */
    boolean arrange(Object bean) {
        if (!(bean instanceof Advised advised) || !isIn(advised)) {
            return isLimitedInside(bean);
        }
        if (!advised.isFrozen()) {
            if (advised.indexOf(advisor) > 0) {
                advised.removeAdvisor(advisor);
                advised.addAdvisor(0, advisor);
            }
            if (isPerhapsWoven(AopUtils.getTargetClass(bean))) {
                advised.removeAdvisor(last);
                advised.addAdvisor(last);
            }
        }
        return true;
    }

    private boolean isIn(Advised advised) {
        return advised.indexOf(advisor) >= 0;
    }

    /** Whether it is a proxy before a bean that has our advice: a facade of another name, say. That one decides. */
    private boolean isLimitedInside(Object bean) {
        Object target = bean;
        while (target instanceof Advised advised) {
            target = AopProxyUtils.getSingletonTarget(advised);
            if (target instanceof Advised inner && isIn(inner)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        // What is a proxy already gets our advice, and no proxy around it.
        if (SpringProxy.class.isAssignableFrom(beanClass)
                || AopInfrastructureBean.class.isAssignableFrom(beanClass)
                || !hasAnnotations(beanClass)) {
            return beanClass;
        }
        ProxyFactory proxy = new ProxyFactory();
        proxy.copyFrom(this);
        proxy.setTargetClass(beanClass);
        if (beans != null && AutoProxyUtils.shouldProxyTargetClass(beans, beanName)) {
            proxy.setProxyTargetClass(true);
        }
        fit(proxy, beanClass);
        if (!proxy.isProxyTargetClass()) {
            evaluateProxyInterfaces(beanClass, proxy);
        }
        // With any advice: a class does not know which of its methods are advised.
        proxy.addAdvice((MethodInterceptor) MethodInvocation::proceed);
        return proxy.getProxyClass(getProxyClassLoader());
    }

    @Override
    protected ProxyFactory prepareProxyFactory(Object bean, String beanName) {
        ProxyFactory proxy = super.prepareProxyFactory(bean, beanName);
        fit(proxy, bean.getClass());
        return proxy;
    }

    /** A final class has no subclasses, and a proxy of the JDK or a lambda is known by its interfaces alone. */
    private static void fit(ProxyFactory proxy, Class<?> type) {
        if (proxy.isProxyTargetClass() && !canHaveSubclass(type) && type.getInterfaces().length > 0) {
            proxy.setProxyTargetClass(false);
        }
    }

    private static boolean canHaveSubclass(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
    }

    static boolean isPerhapsWoven(Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(MethodSite::looksWoven)
                || Stream.<Class<?>>iterate(type, one -> one != null, Class::getSuperclass)
                        .anyMatch(MethodSite::looksWoven);
    }

    /** Whether the class has limited methods that a proxy can reach; all its annotations are looked at. */
    private boolean hasLimits(Class<?> type) {
        Boolean known = limited.get(type);
        if (known == null) {
            known = findLimits(type);
            limited.put(type, known);
        }
        return known;
    }

    private boolean findLimits(Class<?> type) {
        boolean found = false;
        for (AnnotatedMethod method : AnnotatedMethod.of(type)) {
            found |= isReachable(method, type) && methods.get().of(method.called(), type) != null;
        }
        return found;
    }

    /** The same without a limiter: while an application is built ahead of time there is none. */
    private boolean hasAnnotations(Class<?> type) {
        boolean annotated = false;
        for (AnnotatedMethod method : AnnotatedMethod.of(type)) {
            annotated |= isReachable(method, type);
        }
        return annotated;
    }

    /** False for what is limited elsewhere or not meant; an error for what would silently not be limited at all. */
    private boolean isReachable(AnnotatedMethod annotated, Class<?> type) {
        Method method = annotated.specific();
        String why = hindrance(method, type);
        if (why == null) {
            return true;
        }
        boolean ofMethod = annotated.annotations().get(0).getSource() instanceof Method;
        // Of a class, the methods that nobody can call on the proxy need no limit.
        boolean meant = ofMethod || (!Modifier.isStatic(method.getModifiers()) && isSubclassed(type));
        if (meant && !MethodSite.looksWoven(method.getDeclaringClass())) {
            throw Wrong.at(
                    Wrong.OUT_OF_REACH,
                    MethodSite.described(method),
                    "the method " + why
                            + ", so a proxy can't limit it; change that, move it to another bean, or weave the"
                            + " class by AspectJ");
        }
        if (meant) {
            // Which aspect has woven the class can't be seen, and ours is likely: whoever weaves wants it.
            LOG.info(
                    "{} {} {}, so no proxy limits it; it is limited if RateLimitAspect is among what its class was woven with",
                    Wrong.PERHAPS_WOVEN,
                    MethodSite.described(method),
                    why);
        }
        return false;
    }

    private @Nullable String hindrance(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers)) {
            return "is private";
        }
        if (Modifier.isStatic(modifiers)) {
            return "is static";
        }
        if (isSubclassed(type) && !canHaveSubclass(type)) {
            return "is of a final class";
        }
        if (Proxy.isProxyClass(type) || isOfInterface(method, type)) {
            return Modifier.isFinal(modifiers) && isSubclassed(type) ? "is final" : null;
        }
        if (!isSubclassed(type)) {
            return "is of no interface, and the proxy of its bean has the interfaces alone";
        }
        return Modifier.isFinal(modifiers) ? "is final" : null;
    }

    /** Whether the proxy of a bean of this class is a subclass of it. */
    private boolean isSubclassed(Class<?> type) {
        if (isProxyTargetClass() && canHaveSubclass(type)) {
            return true;
        }
        ProxyFactory interfaces = new ProxyFactory();
        evaluateProxyInterfaces(type, interfaces);
        return interfaces.isProxyTargetClass();
    }

    private static boolean isOfInterface(Method method, Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .flatMap(one -> Arrays.stream(one.getMethods()))
                .filter(one ->
                        one.getName().equals(method.getName()) && one.getParameterCount() == method.getParameterCount())
                .anyMatch(one -> Annotations.specific(one, type).equals(method));
    }
}
