package io.limiter.spring.aop;

import io.limiter.Decision;
import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Finds the annotations that are for a method. */
final class Annotations {
    /** What Spring MVC calls beside the one method that a request is for; by name, since Spring MVC is optional. */
    private static final List<String> CALLED_BESIDE = List.of(
            "org.springframework.web.bind.annotation.ExceptionHandler",
            "org.springframework.web.bind.annotation.InitBinder",
            "org.springframework.web.bind.annotation.ModelAttribute");

    private static final String REQUEST_MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    /**
     * What calls a method from a thread that serves no web request; by name, since all of it is optional. The listeners of JMS,
     * Kafka and RabbitMQ carry the second one.
     */
    private static final List<String> CALLED_BY_NO_REQUEST = List.of(
            "org.springframework.scheduling.annotation.Scheduled",
            "org.springframework.messaging.handler.annotation.MessageMapping");

    private Annotations() {}

    /** The annotation by which a method is called from threads without a web request, such as {@code @Scheduled}; null if it has none. */
    static @Nullable String callerWithoutRequest(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        for (String type : CALLED_BY_NO_REQUEST) {
            MergedAnnotation<?> found = all.get(type);
            if (found.isPresent()) {
                // As it is written on the method: what carries it says more than what it carries.
                return "@" + found.getRoot().getType().getSimpleName();
            }
        }
        return null;
    }

    /**
     * The nearest: of the method itself, else of a method that it overrides or implements, else of its class, of what that
     * extends or implements, or of the interface that it is called by. Meta-annotations are merged with what stands on them.
     * The fallback of an annotation of the class is not limited by that annotation.
     *
     * @param specific the method that runs
     * @param called the method that is called, of an interface perhaps
     */
    static List<MergedAnnotation<RateLimited>> of(Method specific, Method called) {
        List<MergedAnnotation<RateLimited>> found = nearest(specific);
        if (found.isEmpty() && isOfItsClass(specific)) {
            found = nearest(specific.getDeclaringClass());
            if (found.isEmpty() && !called.equals(specific)) {
                found = nearest(called.getDeclaringClass());
            }
            found = found.stream()
                    .filter(annotation -> !isFallback(specific, annotation.getString("fallback")))
                    .toList();
        }
        return found;
    }

    /** The method of the class that runs when this one is called. */
    static Method specific(Method called, Class<?> target) {
        return BridgeMethodResolver.findBridgedMethod(
                BridgeMethodResolver.findBridgedMethod(ClassUtils.getMostSpecificMethod(called, target)));
    }

    /** Whether annotations of its class are for a method: they are for what a class offers. */
    private static boolean isOfItsClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !method.isSynthetic()
                && !isOfObject(method)
                && !isCalledBeside(method);
    }

    /** Whether a method of that name answers denied calls of another one of its class. */
    private static boolean isFallback(Method method, String name) {
        return method.getName().equals(name)
                && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                        .filter(other -> !other.isSynthetic() && isOfItsClass(other))
                        .anyMatch(other -> isAnsweredBy(method, other));
    }

    private static boolean isAnsweredBy(Method method, Method other) {
        List<Class<?>> parameters = List.of(method.getParameterTypes());
        List<Class<?>> withDecision = new ArrayList<>(List.of(other.getParameterTypes()));
        withDecision.add(Decision.class);
        return parameters.equals(withDecision)
                || (!other.getName().equals(method.getName()) && parameters.equals(List.of(other.getParameterTypes())));
    }

    /** Else a request would be charged for its preparations, and the answer to a denial denied. */
    private static boolean isCalledBeside(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return CALLED_BESIDE.stream().anyMatch(all::isPresent) && !all.isPresent(REQUEST_MAPPING);
    }

    private static boolean isOfObject(Method method) {
        return switch (method.getName()) {
            case "toString", "hashCode" -> method.getParameterCount() == 0;
            case "equals" -> method.getParameterCount() == 1 && method.getParameterTypes()[0] == Object.class;
            default -> method.getDeclaringClass() == Object.class;
        };
    }

    private static List<MergedAnnotation<RateLimited>> nearest(AnnotatedElement element) {
        List<MergedAnnotation<RateLimited>> all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(
                        RateLimited.class)
                .toList();
        if (all.size() < 2) {
            return all;
        }
        int level =
                all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElseThrow();
        return all.stream()
                .filter(annotation -> annotation.getAggregateIndex() == level)
                .toList();
    }
}
