package io.limiter.spring.proxy;

import io.limiter.Limiter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import io.limiter.spring.aop.WovenClasses;
import io.limiter.spring.call.AnnotatedPolicy;
import io.limiter.spring.call.CallObserver;
import io.limiter.spring.expression.AnnotationError;
import io.limiter.spring.expression.Beans;
import io.limiter.spring.method.AnnotatedMethod;
import io.limiter.spring.method.LimitedMethods;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ConcurrentReferenceHashMap.ReferenceType;

/**
 * Puts limits before the methods of beans that have the annotation {@link RateLimited}, and stops the start when an annotation is wrong. It
 * needs one bean of type {@link Limiter}, and uses one of type {@link CallerSource} where there is one. Woven methods
 * use the same limiter as long as the context lives. Used by the Spring context alone.
 *
 * <p>Its proxies decide before every other advice of a bean: transactions, caches and {@code @Async} begin after it. It comes before
 * the processors that hand beans to others, such as listeners of messages; what later ones put before its advice,
 * {@link #lastPass} puts behind it, which has to be a bean as well.
 */
public final class RateLimitedPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInitializingSingleton, DisposableBean {
    private static final long serialVersionUID = 1L;

    private final transient Advisor arrival;
    private final transient Map<Class<?>, List<Method>> reachable =
            new ConcurrentReferenceHashMap<>(64, ReferenceType.WEAK);
    private final transient Set<String> seen = ConcurrentHashMap.newKeySet();
    private final transient Set<String> limited = ConcurrentHashMap.newKeySet();
    private transient @Nullable ConfigurableListableBeanFactory beans;
    private transient volatile @Nullable LimitedMethods methods;
    private transient @Nullable RateLimiting rateLimiting;

    /** Makes proxies that are subclasses of the beans, where these are not final. */
    public RateLimitedPostProcessor() {
        setProxyTargetClass(true);
        setBeforeExistingAdvisors(true);
        // Before those that keep a bean as they find it; they come last of all that have an order.
        setOrder(Ordered.LOWEST_PRECEDENCE - 1);
        BiPredicate<Method, Class<?>> hasLimits = this::isLimited;
        this.advisor = advisor(hasLimits, this::interceptor);
        this.arrival = advisor(
                hasLimits.and((method, type) -> WovenClasses.isPerhapsWoven(AnnotatedMethod.specific(method, type))),
                () -> interceptor()::arrive);
    }

    /** While an application is built ahead of time there is no limiter, and the annotations say it. */
    private boolean isLimited(Method method, Class<?> type) {
        LimitedMethods used = methods;
        return used == null ? AnnotatedMethod.isAnnotated(method, type) : used.of(method, type) != null;
    }

    private RateLimitInterceptor interceptor() {
        return new RateLimitInterceptor(this::methods);
    }

    /** A proxy asks for the advice once for each of its methods. */
    private static Advisor advisor(BiPredicate<Method, Class<?>> matcher, Supplier<MethodInterceptor> advice) {
        StaticMethodMatcherPointcut methods = new StaticMethodMatcherPointcut() {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                return matcher.test(method, targetClass);
            }
        };
        return new DefaultPointcutAdvisor(methods, advice.get()) {
            @Override
            public Advice getAdvice() {
                return advice.get();
            }
        };
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        super.setBeanFactory(factory);
        this.beans = (ConfigurableListableBeanFactory) factory;
    }

    /** What the annotations say that it has met so far, of beans and of woven classes, by method. */
    public List<AnnotatedPolicy> policies() {
        LimitedMethods used = methods;
        return used == null ? List.of() : used.policies();
    }

    /** Remembers which beans have limits, as long as they can be seen. */
    @Override
    public @Nullable Object postProcessBeforeInitialization(Object bean, String beanName) {
        seen.add(beanName);
        if (isFor(bean)) {
            makeLimits(bean);
            limited.add(beanName);
        }
        return bean;
    }

    /** Checks the annotations of a bean, and gives it a proxy if it has some. */
    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!isFor(bean)) {
            return bean;
        }
        // What a factory made comes here alone.
        makeLimits(bean);
        return super.postProcessAfterInitialization(bean, beanName);
    }

    /** Finds all mistakes; and from now on at the latest woven methods have a limiter. */
    private void makeLimits(Object bean) {
        Class<?> type = AopUtils.getTargetClass(bean);
        reachable(type).forEach(method -> methods().of(method, type));
    }

    @Override
    protected boolean isEligible(Class<?> targetClass) {
        return !reachable(targetClass).isEmpty();
    }

    /** A final class has no subclasses, and a proxy of the JDK or a lambda is known by its interfaces alone. */
    @Override
    protected void customizeProxyFactory(ProxyFactory proxy) {
        Class<?> type = proxy.getTargetClass();
        if (type != null
                && proxy.isProxyTargetClass()
                && !ProxyReach.canHaveSubclass(type)
                && type.getInterfaces().length > 0) {
            proxy.setProxyTargetClass(false);
            evaluateProxyInterfaces(type, proxy);
        }
    }

    /** The class of the proxy that a bean of a class gets: made ahead of time, where it can't be made at run time. */
    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        // What is a proxy already gets our advice, and no proxy around it.
        return SpringProxy.class.isAssignableFrom(beanClass) ? beanClass : super.determineBeanType(beanClass, beanName);
    }

    /**
     * The processor that comes after all that have an order: it puts the advice of this one before theirs, and stops the start when a
     * bean has lost it. A bean beside this one.
     */
    public BeanPostProcessor lastPass() {
        return new LastPass();
    }

    private final class LastPass implements BeanPostProcessor, AopInfrastructureBean {
        @Override
        public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
            if (!arrange(bean) && limited.contains(beanName)) {
                throw escaped(
                        beanName,
                        bean,
                        "another post processor has put an object of "
                                + bean.getClass().getName()
                                + " before it, which hides its annotations; put them on an interface that this has, or weave"
                                + " the class by AspectJ");
            }
            return bean;
        }
    }

    /**
     * Puts our advice first in a proxy, and the mark for woven methods last. Others may have put theirs before it since it
     * was made: {@code @Async} would have gone to another thread, away from the request.
     *
     * @return whether the bean has our advice, itself or in a proxy below
     */
    private boolean arrange(Object bean) {
        if (!(bean instanceof Advised advised) || advised.indexOf(advisor) < 0) {
            return isLimitedInside(bean);
        }
        if (!advised.isFrozen()) {
            if (advised.indexOf(advisor) > 0) {
                advised.removeAdvisor(advisor);
                advised.addAdvisor(0, advisor);
            }
            // For woven methods alone.
            advised.removeAdvisor(arrival);
            advised.addAdvisor(arrival);
        }
        return true;
    }

    private static IllegalStateException escaped(String beanName, Object bean, String why) {
        return AnnotationError.at(
                "bean '" + beanName + "' (" + AopUtils.getTargetClass(bean).getName() + ")",
                "RL-134",
                "nothing would be limited there: " + why);
    }

    /** Woven methods are limited from now on at the latest. */
    @Override
    public void afterSingletonsInstantiated() {
        ConfigurableListableBeanFactory factory = factory();
        if (factory.getBeanProvider(Limiter.class).stream().findAny().isPresent()) {
            methods();
        }
        if (hasReplacements(factory)) {
            return;
        }
        checkEarlyBeans(factory);
        // A context that uses the limiter of its parent sees only some of what uses the policies.
        if (factory.getBeanNamesForType(Limiter.class, true, false).length > 0) {
            factory.getBeanProvider(Limiter.class)
                    .ifUnique(limiter -> UnusedPolicies.report(limiter.config(), policies(), factory));
        }
    }

    /** Those that were made for a post processor, before there was this one. */
    private void checkEarlyBeans(ConfigurableListableBeanFactory factory) {
        for (String name : factory.getSingletonNames()) {
            Object bean = seen.contains(name) ? null : factory.getSingleton(name);
            if (bean != null && !bean.getClass().getName().contains("$MockitoMock$") && isFor(bean)) {
                throw escaped(
                        name,
                        bean,
                        factory.containsBeanDefinition(name)
                                ? "it was made before limits could be put before it, because a bean post processor needs it;"
                                        + " inject it there lazily (ObjectProvider, @Lazy), or weave the class by AspectJ"
                                : "it was registered as an object, which no post processor sees; define it as a bean");
            }
        }
    }

    /** Whether a test has put objects of its own in the place of beans ({@code @MockitoBean}, {@code @TestBean}): those stay as they are. */
    private static boolean hasReplacements(ConfigurableListableBeanFactory factory) {
        return Arrays.stream(factory.getSingletonNames())
                .anyMatch(name -> name.startsWith("org.springframework.test.context.bean.override."));
    }

    @Override
    public void destroy() {
        RateLimiting used = rateLimiting;
        if (used != null) {
            used.close();
        }
    }

    /** Whether a bean has limits that nobody puts before it yet. */
    private boolean isFor(Object bean) {
        // What a factory makes comes by itself, and the factory may be the description of a proxy.
        return !(bean instanceof AopInfrastructureBean || bean instanceof FactoryBean)
                && !isLimitedInside(bean)
                && isEligible(AopUtils.getTargetClass(bean));
    }

    /** Whether it is a proxy before a bean that has our advice: a facade of another name, say. That one decides. */
    private boolean isLimitedInside(Object bean) {
        Object target = bean;
        while (target instanceof Advised advised) {
            target = AopProxyUtils.getSingletonTarget(advised);
            if (target instanceof Advised inner && inner.indexOf(advisor) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** The limited methods of a class that a proxy can reach; all its annotations are looked at. */
    private List<Method> reachable(Class<?> type) {
        List<Method> known = reachable.get(type);
        if (known == null) {
            List<AnnotatedMethod> annotated = AnnotatedMethod.of(type);
            boolean subclassed = !annotated.isEmpty() && isSubclassed(type);
            known = annotated.stream()
                    .filter(method -> ProxyReach.includes(method, type, subclassed))
                    .map(AnnotatedMethod::called)
                    .toList();
            reachable.put(type, known);
        }
        return known;
    }

    /** Whether the proxy of a bean of this class is a subclass of it. */
    private boolean isSubclassed(Class<?> type) {
        if (isProxyTargetClass() && ProxyReach.canHaveSubclass(type)) {
            return true;
        }
        ProxyFactory interfaces = new ProxyFactory();
        evaluateProxyInterfaces(type, interfaces);
        return interfaces.isProxyTargetClass();
    }

    /** Made when the first bean needs it: the limiter is a bean too. */
    private LimitedMethods methods() {
        LimitedMethods used = methods;
        return used == null ? makeMethods() : used;
    }

    private synchronized LimitedMethods makeMethods() {
        LimitedMethods used = methods;
        if (used == null) {
            BeanFactory factory = factory();
            used = new LimitedMethods(
                    factory.getBean(Limiter.class),
                    factory.getBeanProvider(CallerSource.class).getIfAvailable(),
                    new Beans(factory::containsBean, factory::getBean),
                    factory.getBeanProvider(CallObserver.class).getIfAvailable(() -> CallObserver.NONE));
            rateLimiting = RateLimiting.use(used);
            methods = used;
        }
        return used;
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(beans, "the post processor is no bean of a context; define it as one");
    }
}
