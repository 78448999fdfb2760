package io.limiter.spring.internal;

import io.limiter.internal.DiagnosticLog;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Which methods of beans have limits, and which of these a proxy can intercept. */
final class ProxyReach {
    private static final Logger LOG = DiagnosticLog.of(ProxyReach.class);

    private ProxyReach() {}

    /** A final class has no subclasses, and a proxy of the JDK or a lambda can only be proxied by its interfaces. */
    static boolean canHaveSubclass(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
    }

    /**
     * False for methods that are limited elsewhere or not intended; throws for methods that would silently not be
     * limited at all.
     *
     * @param subclassed whether the proxy of a bean of this class is a subclass of it
     */
    static boolean includes(AnnotatedMethod annotated, Class<?> type, boolean subclassed) {
        Method method = annotated.specific();
        String why = hindrance(method, type, subclassed);
        // Methods of a class that can't be called on the proxy need no limit.
        boolean meant = annotated.annotations().get(0).getSource() instanceof Method
                || (!Modifier.isStatic(method.getModifiers()) && subclassed);
        if (why != null && meant) {
            if (!WovenClasses.isPerhapsWoven(method.getDeclaringClass())) {
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
        return !canHaveSubclass(type) ? "is of a final class" : Modifier.isFinal(modifiers) ? "is final" : null;
    }

    private static boolean isOfInterface(Method method, Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .flatMap(one -> Arrays.stream(one.getMethods()))
                .anyMatch(one -> AnnotatedMethod.specific(one, type).equals(method));
    }

    /** Where a bean may have annotations: in its class, and in interfaces that only its proxy has, as that of a repository. */
    static Stream<Class<?>> typesOf(Object bean) {
        Class<?> type = AopUtils.getTargetClass(bean);
        return Stream.concat(
                Stream.of(type),
                bean instanceof Advised
                        ? Arrays.stream(bean.getClass().getInterfaces()).filter(one -> !one.isAssignableFrom(type))
                        : Stream.empty());
    }

    /** Whether a bean has our advice, or is a proxy of a bean that has, such as a facade with another name. That bean decides. */
    static boolean has(Advisor advisor, Object bean) {
        Object target = bean;
        while (target instanceof Advised advised) {
            if (advised.indexOf(advisor) >= 0) {
                return true;
            }
            target = AopProxyUtils.getSingletonTarget(advised);
        }
        return false;
    }

    /** Whether a test has replaced beans by its own objects ({@code @MockitoBean}, {@code @TestBean}), which stay as they are. */
    static boolean hasReplacements(ConfigurableListableBeanFactory factory) {
        return Arrays.stream(factory.getSingletonNames())
                .anyMatch(name -> name.startsWith("org.springframework.test.context.bean.override."));
    }

    /** The policies that annotations of beans name; also of beans that are created later: lazy ones, and those of a scope. */
    static Set<String> namedPolicies(ListableBeanFactory beans) {
        Set<String> names = new TreeSet<>();
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = type(name, beans);
            if (type != null) {
                AnnotatedMethod.of(type)
                        .forEach(method ->
                                method.annotations().forEach(annotation -> names.add(annotation.getString("value"))));
            }
        }
        return names;
    }

    /** The class of a bean that may never be created: a library that it needs may be missing. */
    private static @Nullable Class<?> type(String name, ListableBeanFactory beans) {
        try {
            return beans.getType(name, false);
        } catch (BeansException | LinkageError unknown) {
            return null;
        }
    }
}
