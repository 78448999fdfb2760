package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

    private static final Logger LOG = LoggerFactory.getLogger(RateLimited.class);

    /** All of a class, private ones too. */
    static List<AnnotatedMethod> of(Class<?> type) {
        List<AnnotatedMethod> found = new ArrayList<>();
        if (!OF_OTHERS.matcher(type.getName()).lookingAt()
                && AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
            for (Method method : readableMethodsOf(type)) {
                Method specific = Annotations.specific(method, type);
                List<MergedAnnotation<RateLimited>> annotations = Annotations.of(specific, method);
                if (!annotations.isEmpty()) {
                    found.add(new AnnotatedMethod(method, specific, annotations));
                }
            }
        }
        return found;
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
