package io.limiter.spring.internal;

import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * An annotated method of a class, before it is prepared.
 *
 * @param type the class; of a proxy that others made, one of its interfaces
 * @param called as the class or something that it extends or implements declares it
 * @param specific the one that runs
 * @param annotations the nearest ones
 */
record AnnotatedMethod(Class<?> type, Method called, Method specific, List<MergedAnnotation<RateLimited>> annotations) {
    /**
     * Packages of classes that do not use this annotation, which are most of an application's. Other classes may be in
     * packages below them.
     */
    private static final Pattern OF_OTHERS = Pattern.compile("(java|javax|jakarta|jdk|sun)\\.|org\\.springframework\\."
            + "(aop|beans|boot|cache|context|core|dao|data|expression|format|http|instrument|jdbc|jms|jmx|messaging|orm"
            + "|scheduling|security|stereotype|transaction|ui|util|validation|web)\\.");

    /** Methods that Spring MVC calls in addition to the handler of a request; by name, because Spring MVC is optional. */
    private static final List<String> CALLED_BESIDE = List.of(
            "org.springframework.web.bind.annotation.ExceptionHandler",
            "org.springframework.web.bind.annotation.InitBinder",
            "org.springframework.web.bind.annotation.ModelAttribute");

    private static final String REQUEST_MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    private static final Logger LOG = LoggerFactory.getLogger(AnnotatedMethod.class);

    /** All annotated methods of a class, including private ones. */
    public static List<AnnotatedMethod> of(Class<?> type) {
        if (isOfOthers(type)) {
            return Arrays.stream(type.getInterfaces())
                    .flatMap(one -> of(one).stream())
                    .toList();
        }
        if (!AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
            return List.of();
        }
        return readableMethodsOf(type).stream()
                .map(method -> of(method, type))
                .filter(method -> !method.annotations.isEmpty())
                .toList();
    }

    /** Whether the annotation is on an interface or on its method, where weaving ignores it. */
    public boolean isOfInterface() {
        Object source = annotations.get(0).getSource();
        return (source instanceof Method method ? method.getDeclaringClass() : (Class<?>) source).isInterface();
    }

    /** Whether calls of a method to an object of this class are limited. */
    public static boolean isAnnotated(Method called, Class<?> type) {
        return !of(called, type).annotations.isEmpty();
    }

    /** A method of a class, possibly without annotations. */
    static AnnotatedMethod of(Method called, Class<?> type) {
        if (isOfOthers(type)) {
            return Arrays.stream(type.getInterfaces())
                    .map(one -> of(called, one))
                    .filter(method -> !method.annotations.isEmpty()
                            && method.specific.getDeclaringClass().isAssignableFrom(method.type))
                    .findFirst()
                    .orElse(new AnnotatedMethod(type, called, called, List.of()));
        }
        Method specific = specific(called, type);
        return new AnnotatedMethod(type, called, specific, find(specific, called, type));
    }

    /** Whether only its interfaces may have annotations: it is a proxy of interfaces, or of a library. */
    static boolean isOfOthers(Class<?> type) {
        return Proxy.isProxyClass(type) || OF_OTHERS.matcher(type.getName()).lookingAt();
    }

    /** The method of the class that runs if this one is called. */
    public static Method specific(Method called, Class<?> target) {
        return BridgeMethodResolver.findBridgedMethod(
                BridgeMethodResolver.findBridgedMethod(ClassUtils.getMostSpecificMethod(called, target)));
    }

    /** A bean may have methods with types of a missing library. Reflection then shows none of the methods of the class. */
    private static Set<Method> readableMethodsOf(Class<?> type) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
        types.add(type);
        try {
            return types.stream()
                    .flatMap(one -> Arrays.stream(ReflectionUtils.getAllDeclaredMethods(one)))
                    .filter(method -> !method.isSynthetic() && method.getDeclaringClass() != Object.class)
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        } catch (IllegalStateException | LinkageError unreadable) {
            LOG.debug("the methods of {} can't be read, so the class is skipped", type, unreadable);
            return Set.of();
        }
    }

    /**
     * The nearest annotations: of the method itself, else of a method that it overrides or implements, also of an interface
     * that only {@code type} has, else of its class, its supertypes, or these interfaces. Meta-annotations are merged with
     * the attributes of the annotation that they are on.
     * The fallback of an annotation of the class is not limited by that annotation.
     *
     * @param specific the method that runs
     * @param called the method that is called, possibly of an interface
     * @param type a class, or an interface that may extend that of the method
     */
    private static List<MergedAnnotation<RateLimited>> find(Method specific, Method called, Class<?> type) {
        Class<?> owner = specific.getDeclaringClass();
        Predicate<Method> isIts = method -> method.getName().equals(specific.getName())
                && specific(method, type).equals(specific);
        List<Class<?>> others = ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .filter(one -> !one.isAssignableFrom(owner)
                        && Arrays.stream(one.getMethods()).anyMatch(isIts))
                .toList();
        Stream<Method> declared =
                others.stream().flatMap(one -> Arrays.stream(one.getMethods())).filter(isIts);
        List<MergedAnnotation<RateLimited>> found = first(Stream.concat(Stream.of(specific), declared));
        if (!found.isEmpty()) {
            return found;
        }
        return first(Stream.concat(Stream.of(owner, called.getDeclaringClass()), others.stream())).stream()
                .filter(annotation -> isOfItsClass(specific) && !isFallback(specific, annotation.getString("fallback")))
                .toList();
    }

    /** Whether annotations of its class apply to a method: they apply to its public ones. */
    private static boolean isOfItsClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !method.isSynthetic()
                && !ReflectionUtils.isObjectMethod(method)
                && !isCalledBeside(method);
    }

    /** Whether a method of that name is the fallback of another one of its class. */
    private static boolean isFallback(Method method, String name) {
        return method.getName().equals(name)
                && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                        .filter(other -> !other.equals(method) && isOfItsClass(other))
                        .anyMatch(other -> Fallback.answers(method, other));
    }

    /** Otherwise a request would be charged for its preparation, and the answer to a denial could be denied. */
    private static boolean isCalledBeside(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return CALLED_BESIDE.stream().anyMatch(all::isPresent) && !all.isPresent(REQUEST_MAPPING);
    }

    /** Those of the first of these elements that has any. */
    private static List<MergedAnnotation<RateLimited>> first(Stream<? extends AnnotatedElement> elements) {
        return elements.map(AnnotatedMethod::nearest)
                .filter(found -> !found.isEmpty())
                .findFirst()
                .orElse(List.of());
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
