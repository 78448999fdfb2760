package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import io.limiter.wiring.Limiter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Puts limits before the methods of beans that have the annotation {@link RateLimited}, and stops the start when an annotation is wrong. It
 * needs one bean of type {@link Limiter}, and uses one of type {@link CallerSource} where there is one. Woven methods
 * use the same limiter as long as the context lives. Used by the Spring context alone.
 *
 * <p>Its proxies decide before every other advice of a bean: transactions, caches and {@code @Async} begin after it. For
 * that it has no order, and so comes after all processors that have one.
 */
public final class RateLimitedPostProcessor
        implements SmartInstantiationAwareBeanPostProcessor,
                BeanFactoryAware,
                SmartInitializingSingleton,
                DisposableBean,
                AopInfrastructureBean {
    private final Proxies proxies = new Proxies();
    private @Nullable BeanFactory beanFactory;
    private volatile @Nullable RateLimiting rateLimiting;

    /** Makes proxies of the interfaces of a bean where it has some. */
    public RateLimitedPostProcessor() {}

    /** Whether proxies are subclasses also of beans that implement interfaces. */
    public void setProxyTargetClass(boolean proxyTargetClass) {
        proxies.setProxyTargetClass(proxyTargetClass);
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        this.beanFactory = factory;
        proxies.setBeanFactory(factory);
    }

    /** What the annotations say that it has met so far, of beans and of woven classes, by method. */
    public List<AnnotatedPolicy> policies() {
        RateLimiting used = rateLimiting;
        return used == null ? List.of() : used.methods().policies();
    }

    /** Checks the annotations of a bean, and gives it a proxy if it has some. */
    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof AopInfrastructureBean) {
            return bean;
        }
        return proxies.postProcessAfterInitialization(bean, beanName);
    }

    /** The class of the proxy that a bean of a class gets: made ahead of time, where it can't be made at run time. */
    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        return AopInfrastructureBean.class.isAssignableFrom(beanClass)
                ? beanClass
                : proxies.determineBeanType(beanClass, beanName);
    }

    /** Woven methods are limited from now on at the latest. */
    @Override
    public void afterSingletonsInstantiated() {
        if (factory().getBeanProvider(Limiter.class).stream().findAny().isPresent()) {
            methods();
        }
    }

    @Override
    public void destroy() {
        RateLimiting used = rateLimiting;
        if (used != null) {
            used.close();
        }
    }

    /** Made when the first bean needs it: the limiter is a bean too. */
    private LimitedMethods methods() {
        RateLimiting used = rateLimiting;
        return (used == null ? make() : used).methods();
    }

    private synchronized RateLimiting make() {
        RateLimiting used = rateLimiting;
        if (used == null) {
            BeanFactory factory = factory();
            used = RateLimiting.use(
                    factory.getBean(Limiter.class),
                    factory.getBeanProvider(CallerSource.class).getIfAvailable(),
                    new BeansOfSpring(factory));
            rateLimiting = used;
        }
        return used;
    }

    private BeanFactory factory() {
        BeanFactory factory = beanFactory;
        if (factory == null) {
            throw new IllegalStateException("the post processor is no bean of a context; define it as one");
        }
        return factory;
    }

    private record BeansOfSpring(BeanFactory factory) implements Beans {
        @Override
        public boolean has(String name) {
            return factory.containsBean(name);
        }

        @Override
        public Object get(String name) {
            return factory.getBean(name);
        }
    }

    /** Whether the class has limited methods that a proxy can reach; all its annotations are looked at. */
    private boolean hasLimits(Class<?> type) {
        boolean limited = false;
        for (AnnotatedMethod method : AnnotatedMethod.of(type)) {
            limited |= isReachable(method, type) && methods().of(method.called(), type) != null;
        }
        return limited;
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
        int modifiers = method.getModifiers();
        boolean ofMethod = annotated.annotations().get(0).getSource() instanceof Method;
        String why = null;
        if (Modifier.isPrivate(modifiers)) {
            why = "is private";
        } else if (Modifier.isStatic(modifiers)) {
            why = "is static";
        } else if (Modifier.isFinal(modifiers)
                && !Proxy.isProxyClass(type)
                && (proxies.isProxyTargetClass() || !isOfInterface(method, type))) {
            why = "is final";
        }
        if (why == null) {
            return true;
        }
        boolean meant = ofMethod || !Modifier.isStatic(modifiers);
        if (meant && !MethodSite.looksWoven(method.getDeclaringClass())) {
            throw Wrong.at(
                    Wrong.OUT_OF_REACH,
                    MethodSite.described(method),
                    "the method " + why
                            + ", so a proxy can't limit it; change that, move it to another bean, or weave the"
                            + " class by AspectJ");
        }
        return false;
    }

    private static boolean isOfInterface(Method method, Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .anyMatch(one -> ClassUtils.hasMethod(one, method.getName(), method.getParameterTypes()));
    }

    /** Makes the proxies. */
    private final class Proxies extends AbstractBeanFactoryAwareAdvisingPostProcessor {
        private static final long serialVersionUID = 1L;

        private final Advisor last;

        Proxies() {
            setBeforeExistingAdvisors(true);
            StaticMethodMatcherPointcut limited = new StaticMethodMatcherPointcut() {
                @Override
                public boolean matches(Method method, Class<?> targetClass) {
                    return methods().of(method, targetClass) != null;
                }
            };
            RateLimitInterceptor interceptor = new RateLimitInterceptor(RateLimitedPostProcessor.this::methods);
            this.advisor = new DefaultPointcutAdvisor(limited, interceptor);
            this.last = new DefaultPointcutAdvisor(limited, (MethodInterceptor) interceptor::arrive);
        }

        @Override
        public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
            // What is a proxy already gets our advice, and no proxy around it.
            if (SpringProxy.class.isAssignableFrom(beanClass) || !hasAnnotations(beanClass)) {
                return beanClass;
            }
            ProxyFactory proxy = new ProxyFactory();
            proxy.copyFrom(this);
            proxy.setTargetClass(beanClass);
            if (beanFactory instanceof ConfigurableListableBeanFactory known
                    && AutoProxyUtils.shouldProxyTargetClass(known, beanName)) {
                proxy.setProxyTargetClass(true);
            }
            if (!proxy.isProxyTargetClass()) {
                evaluateProxyInterfaces(beanClass, proxy);
            }
            // With any advice: a class does not know which of its methods are advised.
            proxy.addAdvice((MethodInterceptor) MethodInvocation::proceed);
            return proxy.getProxyClass(getProxyClassLoader());
        }

        @Override
        public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
            Object proxy = super.postProcessAfterInitialization(bean, beanName);
            if (proxy instanceof Advised advised
                    && Arrays.stream(advised.getAdvisors()).anyMatch(one -> one == advisor)
                    && isPerhapsWoven(AopUtils.getTargetClass(proxy))) {
                advised.addAdvisor(last);
            }
            return proxy;
        }

        private static boolean isPerhapsWoven(Class<?> type) {
            return ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(MethodSite::looksWoven)
                    || Stream.<Class<?>>iterate(type, one -> one != null, Class::getSuperclass)
                            .anyMatch(MethodSite::looksWoven);
        }

        @Override
        protected boolean isEligible(Class<?> targetClass) {
            return AnnotationUtils.isCandidateClass(targetClass, RateLimited.class) && hasLimits(targetClass);
        }
    }
}
