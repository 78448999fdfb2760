package io.limiter.spring.aop;

import io.limiter.DiagnosticLog;
import io.limiter.spring.RateLimited;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method of a class that has the annotation, before anything is made of it.
 *
 * @param called as the class or something that it extends or implements declares it
 * @param specific the one that runs
 * @param annotations at least one
 */
record AnnotatedMethod(Method called, Method specific, List<MergedAnnotation<RateLimited>> annotations) {
    /** Classes that know nothing of this annotation, and are most of an application's. Others may live below their packages. */
    private static final Pattern OF_OTHERS = Pattern.compile("(java|javax|jakarta|jdk|sun)\\.|org\\.springframework\\."
            + "(aop|beans|boot|cache|context|core|dao|data|expression|format|http|instrument|jdbc|jms|jmx|messaging|orm"
            + "|scheduling|security|stereotype|transaction|ui|util|validation|web)\\.");

    private static final Logger LOG = DiagnosticLog.of(RateLimited.class);

    /** All of a class, private ones too. */
    static List<AnnotatedMethod> of(Class<?> type) {
        if (isOfOthers(type) || !AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
            return List.of();
        }
        Set<Method> methods = readableMethodsOf(type);
        if (!mayBeLimited(type, methods)) {
            return List.of();
        }
        List<AnnotatedMethod> found = new ArrayList<>();
        for (Method method : methods) {
            Method specific = Annotations.specific(method, type);
            List<MergedAnnotation<RateLimited>> annotations = Annotations.of(specific, method);
            if (!annotations.isEmpty()) {
                found.add(new AnnotatedMethod(method, specific, annotations));
            }
        }
        return found;
    }

    private static boolean isOfOthers(Class<?> type) {
        return OF_OTHERS.matcher(type.getName()).lookingAt();
    }

    /** Nearly no class has any annotation that is ours or could carry it; so the search, which is slow, is for few. */
    private static boolean mayBeLimited(Class<?> type, Set<Method> methods) {
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            if (mayBeOurs(one)) {
                return true;
            }
        }
        for (Class<?> one : ClassUtils.getAllInterfacesForClassAsSet(type)) {
            if (mayBeOurs(one)) {
                return true;
            }
        }
        for (Method method : methods) {
            if (mayBeOurs(method)) {
                return true;
            }
        }
        return false;
    }

    private static boolean mayBeOurs(AnnotatedElement element) {
        try {
            for (Annotation annotation : element.getDeclaredAnnotations()) {
                if (!isOfOthers(annotation.annotationType())) {
                    return true;
                }
            }
            return false;
        } catch (RuntimeException | LinkageError unreadable) {
            // One of them is of a library that is not there, or not of the version that it should be. The search knows
            // how
            // to go around it.
            return true;
        }
    }

    /** A bean may have methods with types of a library that is not there. Such a class shows none of its methods, to nobody. */
    private static Set<Method> readableMethodsOf(Class<?> type) {
        try {
            return methodsOf(type);
        } catch (IllegalStateException | LinkageError unreadable) {
            LOG.debug("the methods of {} can't be read, so it is looked at no further", type, unreadable);
            return Set.of();
        }
    }

    private static Set<Method> methodsOf(Class<?> type) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
        if (!Proxy.isProxyClass(type)) {
            types.add(type);
        }
        Set<Method> methods = new LinkedHashSet<>();
        for (Class<?> one : types) {
            for (Method method : ReflectionUtils.getAllDeclaredMethods(one)) {
                if (!method.isSynthetic() && method.getDeclaringClass() != Object.class) {
                    methods.add(method);
                }
            }
        }
        return methods;
    }
}
