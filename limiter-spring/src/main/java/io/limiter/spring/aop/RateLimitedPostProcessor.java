package io.limiter.spring.aop;

import io.limiter.Limiter;
import io.limiter.spring.RateLimited;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * Puts limits before the methods of beans that have the annotation {@link RateLimited}, and stops the start when an annotation is wrong. It
 * needs one bean of type {@link Limiter}, and uses one of type {@link CallerSource} where there is one. Woven methods
 * use the same limiter as long as the context lives. Used by the Spring context alone.
 *
 * <p>Its proxies decide before every other advice of a bean: transactions, caches and {@code @Async} begin after it. It comes before
 * the processors that hand beans to others, such as listeners of messages; what later ones put before its advice,
 * {@link #lastPass} puts behind it, which has to be a bean as well.
 */
public final class RateLimitedPostProcessor
        implements SmartInstantiationAwareBeanPostProcessor,
                BeanFactoryAware,
                SmartInitializingSingleton,
                DisposableBean,
                Ordered,
                AopInfrastructureBean {
    /** Before those that keep a bean as they find it; they come last of all that have an order. */
    private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 1;

    private final LimitProxies proxies = new LimitProxies(this::methods);
    private final Set<String> seen = ConcurrentHashMap.newKeySet();
    private final Set<String> limited = ConcurrentHashMap.newKeySet();
    private volatile boolean anyWoven;
    private @Nullable BeanFactory beanFactory;
    private volatile @Nullable RateLimiting rateLimiting;

    /** Makes proxies that are subclasses of the beans, where these are not final. */
    public RateLimitedPostProcessor() {}

    /** Whether proxies are subclasses also of beans that implement interfaces; they are unless told otherwise. */
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

    @Override
    public int getOrder() {
        return ORDER;
    }

    /** Remembers which beans have limits, as long as they can be seen. */
    @Override
    public @Nullable Object postProcessBeforeInitialization(Object bean, String beanName) {
        seen.add(beanName);
        if (!(bean instanceof AopInfrastructureBean) && proxies.isFor(bean)) {
            limited.add(beanName);
            if (LimitProxies.isPerhapsWoven(AopUtils.getTargetClass(bean))) {
                anyWoven = true;
            }
        }
        return bean;
    }

    /** Checks the annotations of a bean, and gives it a proxy if it has some. */
    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof AopInfrastructureBean) {
            return bean;
        }
        return proxies.postProcessAfterInitialization(bean, beanName);
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
            if (!proxies.arrange(bean) && limited.contains(beanName)) {
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

    private static IllegalStateException escaped(String beanName, Object bean, String why) {
        return Wrong.at(
                Wrong.ESCAPED,
                "bean '" + beanName + "' (" + AopUtils.getTargetClass(bean).getName() + ")",
                "nothing would be limited there: " + why);
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
        if (factory() instanceof ConfigurableListableBeanFactory beans && !hasReplacements(beans)) {
            checkEarlyBeans(beans);
            if (!limited.isEmpty() && !anyWoven) {
                LoadTimeWeaver.reportUnwovenBeans();
            }
            // A context that uses the limiter of its parent sees only some of what uses the policies.
            if (beans.getBeanNamesForType(Limiter.class, true, false).length > 0) {
                beans.getBeanProvider(Limiter.class)
                        .ifUnique(limiter -> UnusedPolicies.report(limiter.config(), policies(), beans));
            }
        }
    }

    /** Those that were made for a post processor, before there was this one. */
    private void checkEarlyBeans(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getSingletonNames()) {
            Object bean = seen.contains(name) ? null : beans.getSingleton(name);
            if (bean != null
                    && !(bean instanceof AopInfrastructureBean)
                    && !bean.getClass().getName().contains("$MockitoMock$")
                    && proxies.isFor(bean)) {
                throw escaped(
                        name,
                        bean,
                        beans.containsBeanDefinition(name)
                                ? "it was made before limits could be put before it, because a bean post processor needs it;"
                                        + " inject it there lazily (ObjectProvider, @Lazy), or weave the class by AspectJ"
                                : "it was registered as an object, which no post processor sees; define it as a bean");
            }
        }
    }

    /** Whether a test has put objects of its own in the place of beans ({@code @MockitoBean}, {@code @TestBean}): those stay as they are. */
    private static boolean hasReplacements(ConfigurableListableBeanFactory beans) {
        return Arrays.stream(beans.getSingletonNames())
                .anyMatch(name -> name.startsWith("org.springframework.test.context.bean.override."));
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
}
