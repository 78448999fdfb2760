package io.limiter.spring.internal;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;

/** The policies that annotations of beans name. */
final class NamedPolicies {
    private NamedPolicies() {}

    /** Also of beans that are created later: lazy ones, and those of a scope. */
    static Set<String> of(ListableBeanFactory beans) {
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
