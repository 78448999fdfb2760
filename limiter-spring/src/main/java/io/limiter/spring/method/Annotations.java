package io.limiter.spring.method;

import io.limiter.spring.RateLimited;
import io.limiter.spring.call.Fallback;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/** Finds the annotations that are for a method. */
final class Annotations {
    /** What Spring MVC calls beside the one method that a request is for; by name, since Spring MVC is optional. */
    private static final List<String> CALLED_BESIDE = List.of(
            "org.springframework.web.bind.annotation.ExceptionHandler",
            "org.springframework.web.bind.annotation.InitBinder",
            "org.springframework.web.bind.annotation.ModelAttribute");

    private static final String REQUEST_MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    private Annotations() {}

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

    /** Whether annotations of its class are for a method: they are for what a class offers. */
    private static boolean isOfItsClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !method.isSynthetic()
                && !ReflectionUtils.isObjectMethod(method)
                && !isCalledBeside(method);
    }

    /** Whether a method of that name answers denied calls of another one of its class. */
    private static boolean isFallback(Method method, String name) {
        return method.getName().equals(name)
                && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                        .filter(other -> !other.equals(method) && isOfItsClass(other))
                        .anyMatch(other -> Fallback.answers(method, other));
    }

    /** Else a request would be charged for its preparations, and the answer to a denial denied. */
    private static boolean isCalledBeside(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return CALLED_BESIDE.stream().anyMatch(all::isPresent) && !all.isPresent(REQUEST_MAPPING);
    }

    private static List<MergedAnnotation<RateLimited>> nearest(AnnotatedElement element) {
        List<MergedAnnotation<RateLimited>> all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(
                        RateLimited.class)
                .toList();
        int level =
                all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElse(0);
        return all.stream()
                .filter(annotation -> annotation.getAggregateIndex() == level)
                .toList();
    }
}
