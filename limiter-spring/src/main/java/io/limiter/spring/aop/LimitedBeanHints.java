package io.limiter.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;

/**
 * What a native image must keep of a bean with limited methods: its methods, for they are looked for, and fallbacks are called by
 * their names; its annotations; and what their expressions read.
 */
final class LimitedBeanHints implements BeanRegistrationAotProcessor {
    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = bean.getBeanClass();
        List<AnnotatedMethod> methods = AnnotatedMethod.of(type);
        if (methods.isEmpty()) {
            return null;
        }
        ConfigurableListableBeanFactory beans = bean.getBeanFactory();
        return (generation, code) -> {
            ReflectionHints hints = generation.getRuntimeHints().reflection();
            addType(type, hints);
            ExpressionHints expressions =
                    new ExpressionHints(hints, name -> beans.containsBean(name) ? beans.getType(name) : null);
            for (AnnotatedMethod method : methods) {
                for (MergedAnnotation<?> annotation : method.annotations()) {
                    addAnnotation(annotation, hints);
                    for (String attribute : List.of("key", "permits", "condition")) {
                        expressions.add(annotation.getString(attribute), method);
                    }
                }
            }
        };
    }

    private static void addType(Class<?> type, ReflectionHints hints) {
        List<Class<?>> types = new ArrayList<>(ClassUtils.getAllInterfacesForClassAsSet(type));
        for (Class<?> one = type; one != null && one != Object.class; one = one.getSuperclass()) {
            types.add(one);
        }
        for (Class<?> one : types) {
            hints.registerType(one, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS);
            for (Field field : one.getDeclaredFields()) {
                if (MethodSite.isOfWeaver(field)) {
                    hints.registerField(field);
                }
            }
        }
    }

    /** It may stand on an annotation of the application's own, which is read too. */
    private static void addAnnotation(MergedAnnotation<?> annotation, ReflectionHints hints) {
        for (MergedAnnotation<? extends Annotation> one = annotation; one != null; one = one.getMetaSource()) {
            hints.registerType(one.getType(), MemberCategory.INVOKE_DECLARED_METHODS);
        }
    }
}
