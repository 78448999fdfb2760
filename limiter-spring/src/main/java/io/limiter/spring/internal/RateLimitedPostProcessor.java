package io.limiter.spring.internal;

import io.limiter.application.Limiter;
import io.limiter.internal.rule.KeyForm;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimited;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ConcurrentReferenceHashMap.ReferenceType;
import org.springframework.util.function.SingletonSupplier;

/**
 * Applies limits to methods of beans with the annotation {@link RateLimited}. An invalid annotation fails startup.
 * Needs one bean of type {@link Limiter}, and uses one of type {@link CallerSource} if there is one. Woven methods use
 * the same limiter for the lifetime of the context. Used only by the Spring context.
 *
 * <p>Who holds what: {@link CallLimiters} the limits of methods, by annotation; {@link WovenMethods} whose limits woven methods use. Here
 * is which beans were processed, and which of them must have the advice.
 *
 * <p>Its proxies decide before every other advice of a bean: transactions, caches and {@code @Async} begin after it. It
 * runs before processors that keep references to beans, such as those of message listeners; {@link #lastPass}, which must be a
 * bean too, moves its advice before that of later processors. A method that no proxy can intercept, and no weaver has reached,
 * fails startup.
 */
public final class RateLimitedPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInitializingSingleton, DisposableBean {
    /** A bean of that name reports unused policies, when those are known that use them last: the routes of a gateway. */
    public static final String LATER_REPORT = "io.limiter.spring.laterReport";

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitedPostProcessor.class);

    /** Marks calls that a proxy has decided, so that the aspect of a woven method does not decide them again. */
    private final transient Advisor decidedMark;
    /** The limited methods that proxies can intercept, by class. */
    private final transient Map<Class<?>, List<Method>> interceptable =
            new ConcurrentReferenceHashMap<>(64, ReferenceType.WEAK);
    /** The beans that passed this processor. Others were created before it, or are registered objects. */
    private final transient Set<String> processed = ConcurrentHashMap.newKeySet();
    /** The beans with limits that a thread creates, which must still have the advice after the last pass. */
    private final transient ThreadLocal<Set<String>> limited = ThreadLocal.withInitial(HashSet::new);

    private transient @Nullable ConfigurableListableBeanFactory beans;
    /** Made when the first bean needs it, because the limiter is a bean too. */
    private final transient SingletonSupplier<CallLimiters> limiters = SingletonSupplier.of(this::makeLimiters);
    /** Null as long as no bean needs them. */
    private transient volatile @Nullable WovenMethods woven;

    /** Makes proxies that are subclasses of the beans, unless these are final. */
    public RateLimitedPostProcessor() {
        setProxyTargetClass(true);
        setBeforeExistingAdvisors(true);
        // Before processors that keep a reference to the bean, which have the last order.
        setOrder(Ordered.LOWEST_PRECEDENCE - 1);
        // A method of an interface may have limits of an interface of the proxy, which only a call knows.
        BiPredicate<Method, Class<?>> hasLimits =
                (method, type) -> method.getDeclaringClass().isInterface() || AnnotatedMethod.isAnnotated(method, type);
        this.advisor = RateLimitInterceptor.advisor(hasLimits, () -> new RateLimitInterceptor(limiters::obtain));
        this.decidedMark = RateLimitInterceptor.advisor(
                hasLimits.and((method, type) -> WovenMethods.reachesWoven(
                        AnnotatedMethod.specific(method, type).getDeclaringClass())),
                () -> new RateLimitInterceptor(limiters::obtain)::arrive);
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        super.setBeanFactory(factory);
        this.beans = (ConfigurableListableBeanFactory) factory;
    }

    /** The annotations found so far, of beans and of woven classes, by method. */
    public List<AnnotatedPolicy> policies() {
        return woven == null ? List.of() : limiters.obtain().policies();
    }

    /** Whether the key of a method contains the client's address. */
    public boolean usesAddresses() {
        return policies().stream().anyMatch(one -> one.keyForm().parts().contains(KeyForm.ADDRESS));
    }

    /** Whether a bean has the annotation, also one that is created later. */
    public boolean isUsed() {
        return !policies().isEmpty() || !namedPolicies(factory()).isEmpty();
    }

    /** Records which beans have limits, while their classes are known. */
    @Override
    public @Nullable Object postProcessBeforeInitialization(Object bean, String beanName) {
        processed.add(beanName);
        Class<?> type = bean.getClass();
        if (bean instanceof FactoryBean && isEligible(type) && !WovenMethods.reachesWoven(type)) {
            throw notLimited(beanName, bean, "a factory gets no proxy; move the method to another bean");
        }
        tryReadLimits(bean, beanName);
        return bean;
    }

    /** Checks the annotations of a bean, and makes a proxy if it has any. */
    @Override
    public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
        // Products of a factory are only processed here.
        if (!tryReadLimits(bean, beanName)) {
            return bean;
        }
        if (bean instanceof Advised advised && !advised.isFrozen()) {
            advised.addAdvisor(0, advisor);
            return bean;
        }
        return super.postProcessAfterInitialization(bean, beanName);
    }

    /**
     * Reads the limits of a bean, which finds all mistakes in them; false if it has none that are still to be applied. From now on, at the
     * latest, woven methods have a limiter.
     */
    private boolean tryReadLimits(Object bean, String beanName) {
        if (!needsAdvice(bean)) {
            return false;
        }
        Class<?> type = AopUtils.getTargetClass(bean);
        typesOf(bean)
                .forEach(one ->
                        interceptable(one).forEach(method -> limiters.obtain().of(method, type, bean)));
        limited.get().add(beanName);
        return true;
    }

    @Override
    protected boolean isEligible(Class<?> targetClass) {
        return !interceptable(targetClass).isEmpty();
    }

    @Override
    protected void customizeProxyFactory(ProxyFactory proxy) {
        Class<?> type = proxy.getTargetClass();
        if (type != null && proxy.isProxyTargetClass() && !canHaveSubclass(type) && type.getInterfaces().length > 0) {
            proxy.setProxyTargetClass(false);
            evaluateProxyInterfaces(type, proxy);
        }
    }

    /** The class of the proxy of a bean: made ahead of time, if it can't be made at run time. */
    @Override
    public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
        // An existing proxy gets our advice, not another proxy around it.
        return SpringProxy.class.isAssignableFrom(beanClass) ? beanClass : super.determineBeanType(beanClass, beanName);
    }

    /**
     * The processor that runs after all ordered ones: it moves the advice of this one before theirs, and fails startup
     * if a bean has lost it. A separate bean.
     */
    public BeanPostProcessor lastPass() {
        return new LastPass();
    }

    private final class LastPass implements BeanPostProcessor, AopInfrastructureBean {
        @Override
        public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
            boolean isLimited = limited.get().remove(beanName);
            if (!(bean instanceof FactoryBean) && !tryOrderAdvice(bean) && isLimited) {
                throw notLimited(
                        beanName,
                        bean,
                        "another post processor has wrapped it in an object of "
                                + bean.getClass().getName()
                                + ", which hides its annotations; put them on an interface that this implements, or weave"
                                + " the class by AspectJ");
            }
            return bean;
        }
    }

    /**
     * Puts our advice first in a proxy, and the mark for woven methods last. Other processors may have put theirs
     * before it: {@code @Async} would then switch threads first, outside of the request.
     *
     * @return whether the bean has our advice, itself or in a proxy below
     */
    private boolean tryOrderAdvice(Object bean) {
        // One that is in order may be in use already.
        if (bean instanceof Advised advised
                && !advised.isFrozen()
                && (advised.indexOf(advisor) > 0
                        || advised.indexOf(advisor) == 0
                                && advised.indexOf(decidedMark) != advised.getAdvisorCount() - 1)) {
            advised.removeAdvisor(advisor);
            advised.addAdvisor(0, advisor);
            advised.removeAdvisor(decidedMark);
            advised.addAdvisor(decidedMark);
        }
        return hasAdvice(bean);
    }

    private RuntimeException notLimited(String beanName, Object bean, String why) {
        return MethodScope.errorAt(
                "bean '" + beanName + "' (" + AopUtils.getTargetClass(bean).getName() + ")",
                "RL-134",
                "nothing would be limited there: " + why);
    }

    /** From now on, at the latest, woven methods are limited. */
    @Override
    public void afterSingletonsInstantiated() {
        ConfigurableListableBeanFactory factory = factory();
        if (factory.getBeanProvider(Limiter.class).stream().findAny().isPresent()) {
            limiters.obtain();
        }
        // A test may have replaced beans by its own objects (@MockitoBean, @TestBean), which stay as they are.
        if (Arrays.stream(factory.getSingletonNames())
                .anyMatch(name -> name.startsWith("org.springframework.test.context.bean.override."))) {
            return;
        }
        checkEarlyBeans(factory);
        if (!factory.containsBean(LATER_REPORT)) {
            reportUnusedPolicies(factory);
        }
    }

    /** Warns of policies that nothing has used. A context with the limiter of its parent knows only some users of them. */
    public static void reportUnusedPolicies(ListableBeanFactory factory) {
        if (factory.getBeanNamesForType(Limiter.class, true, false).length > 0) {
            factory.getBeanProvider(Limiter.class)
                    .ifUnique(limiter -> limiter.reportUnusedPolicies(() -> namedPolicies(factory)));
        }
    }

    /** Reports beans that were created for a post processor, before this one existed. */
    private void checkEarlyBeans(ConfigurableListableBeanFactory factory) {
        for (String name : factory.getSingletonNames()) {
            Object bean = processed.contains(name) ? null : factory.getSingleton(name);
            if (bean instanceof FactoryBean<?> maker && maker.isSingleton()) {
                Class<?> type = maker.getObjectType();
                bean = type != null && isEligible(type) ? factory.getBean(name) : null;
            }
            if (bean != null && !bean.getClass().getName().contains("$MockitoMock$") && needsAdvice(bean)) {
                throw notLimited(
                        name,
                        bean,
                        factory.containsBeanDefinition(name)
                                ? "it was created before limits could be applied, because a bean post processor"
                                        + " needs it; inject it there lazily (ObjectProvider, @Lazy), or weave the class by AspectJ"
                                : "it was registered as an object, which post processors do not see; define it as a bean");
            }
        }
    }

    @Override
    public void destroy() {
        WovenMethods used = woven;
        if (used != null) {
            used.close();
        }
    }

    /** Whether a bean has limits, and no proxy with our advice. */
    private boolean needsAdvice(Object bean) {
        // Products of a factory are processed separately, and the factory may describe a proxy.
        return !(bean instanceof AopInfrastructureBean || bean instanceof FactoryBean)
                && !hasAdvice(bean)
                && typesOf(bean).anyMatch(this::isEligible);
    }

    /** The limited methods of a class that a proxy can intercept; checks all its annotations. */
    private List<Method> interceptable(Class<?> type) {
        return interceptable.computeIfAbsent(type, unknown -> {
            List<AnnotatedMethod> annotated = AnnotatedMethod.of(type);
            boolean subclassed = !annotated.isEmpty() && isSubclassed(type);
            return annotated.stream()
                    .filter(method -> includes(method, type, subclassed))
                    .map(AnnotatedMethod::called)
                    .toList();
        });
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

    /** A final class has no subclasses, and a proxy of the JDK or a lambda can only be proxied by its interfaces. */
    private static boolean canHaveSubclass(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
    }

    /**
     * False for methods that are limited elsewhere or not intended; throws for methods that would silently not be
     * limited at all.
     *
     * @param subclassed whether the proxy of a bean of this class is a subclass of it
     */
    private static boolean includes(AnnotatedMethod annotated, Class<?> type, boolean subclassed) {
        Method method = annotated.specific();
        String why = hindrance(method, type, subclassed);
        // Methods of a class that can't be called on the proxy need no limit.
        boolean isIntended = annotated.annotations().get(0).getSource() instanceof Method
                || (!Modifier.isStatic(method.getModifiers()) && subclassed);
        if (why != null && isIntended) {
            if (!WovenMethods.isPerhapsWoven(method.getDeclaringClass())) {
                throw MethodScope.errorAt(
                        MethodScope.describe(method),
                        "RL-130",
                        "the method " + why
                                + ", so a proxy can't limit it; change that, move it to another bean, or weave the"
                                + " class by AspectJ");
            }
            // The aspect that was woven into the class can't be detected; most likely it is RateLimitAspect.
            LOG.info(
                    "RL-135 {} {}, so no proxy limits it; it is limited if RateLimitAspect is one of the"
                            + " aspects that its class was woven with",
                    MethodScope.describe(method),
                    why);
        }
        return why == null;
    }

    /** Why a proxy can't intercept a method; null if it can. */
    private static @Nullable String hindrance(Method method, Class<?> type, boolean subclassed) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            return Modifier.isStatic(modifiers) ? "is static" : "is private";
        }
        if (!subclassed) {
            return Proxy.isProxyClass(type) || isOfInterface(method, type)
                    ? null
                    : "is in no interface, and the proxy of its bean has only the interfaces";
        }
        if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
                && !method.getDeclaringClass().getPackageName().equals(type.getPackageName())) {
            return "is package-private, of a superclass in another package";
        }
        return !canHaveSubclass(type) ? "is of a final class" : Modifier.isFinal(modifiers) ? "is final" : null;
    }

    private static boolean isOfInterface(Method method, Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .flatMap(one -> Arrays.stream(one.getMethods()))
                .anyMatch(one -> AnnotatedMethod.specific(one, type).equals(method));
    }

    /** Where a bean may have annotations: in its class, and in interfaces that only its proxy has, as that of a repository. */
    private static Stream<Class<?>> typesOf(Object bean) {
        Class<?> type = AopUtils.getTargetClass(bean);
        return Stream.concat(
                Stream.of(type),
                bean instanceof Advised
                        ? Arrays.stream(bean.getClass().getInterfaces()).filter(one -> !one.isAssignableFrom(type))
                        : Stream.empty());
    }

    /** Whether a bean has our advice, or is a proxy of a bean that has, such as a facade with another name. That bean decides. */
    private boolean hasAdvice(Object bean) {
        Object target = bean;
        while (target instanceof Advised advised) {
            if (advised.indexOf(advisor) >= 0) {
                return true;
            }
            target = AopProxyUtils.getSingletonTarget(advised);
        }
        return false;
    }

    /** The policies that annotations of beans name; also of beans that are created later: lazy ones, and those of a scope. */
    private static Set<String> namedPolicies(ListableBeanFactory beans) {
        return Arrays.stream(beans.getBeanDefinitionNames())
                .flatMap(name -> Stream.ofNullable(type(name, beans)))
                .flatMap(type -> AnnotatedMethod.of(type).stream())
                .flatMap(method -> method.annotations().stream())
                .map(annotation -> annotation.getString("value"))
                .collect(Collectors.toSet());
    }

    /** The class of a bean that may never be created: a library that it needs may be missing. */
    private static @Nullable Class<?> type(String name, ListableBeanFactory beans) {
        try {
            return beans.getType(name, false);
        } catch (BeansException | LinkageError unknown) {
            return null;
        }
    }

    private CallLimiters makeLimiters() {
        BeanFactory factory = factory();
        CallLimiters made = new CallLimiters(
                factory.getBean(Limiter.class),
                factory.getBeanProvider(CallerSource.class).getIfAvailable(),
                new MethodScope.Beans(factory::containsBean, factory::getBean));
        woven = WovenMethods.use(made);
        return made;
    }

    private ConfigurableListableBeanFactory factory() {
        return Objects.requireNonNull(beans, "the post processor is not a bean of a context; define it as one");
    }
}
