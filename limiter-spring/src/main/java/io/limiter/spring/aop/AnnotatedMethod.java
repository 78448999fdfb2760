package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
    /** All of a class, private ones too. */
    static List<AnnotatedMethod> of(Class<?> type) {
        List<AnnotatedMethod> found = new ArrayList<>();
        if (AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
            for (Method method : methodsOf(type)) {
                Method specific = Annotations.specific(method, type);
                List<MergedAnnotation<RateLimited>> annotations = Annotations.of(specific, method);
                if (!annotations.isEmpty()) {
                    found.add(new AnnotatedMethod(method, specific, annotations));
                }
            }
        }
        return found;
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
