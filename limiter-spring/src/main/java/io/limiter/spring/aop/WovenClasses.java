package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import io.limiter.spring.expression.MethodScope;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Which classes and methods AspectJ has woven, as far as they show it; which aspect it was can't be seen. */
public final class WovenClasses {
    /** A method with advice around it leaves its body in another one. */
    private static final Pattern BODY = Pattern.compile("_aroundBody[0-9]+(\\$advice)?");

    private WovenClasses() {}

    /** Whether AspectJ has been at a class. */
    public static boolean isPerhapsWoven(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields()).anyMatch(WovenClasses::isOfWeaver);
    }

    /** Whether it has been at the class of a method, or at one whose method this overrides. */
    public static boolean isPerhapsWoven(Method method) {
        return isPerhapsWoven(method.getDeclaringClass()) || overridesWoven(method);
    }

    /** Whether it overrides a method that may be woven, and so may call that. */
    static boolean overridesWoven(Method method) {
        return !Modifier.isStatic(method.getModifiers())
                && !Modifier.isPrivate(method.getModifiers())
                && superclasses(method.getDeclaringClass())
                        .skip(1)
                        .filter(WovenClasses::isPerhapsWoven)
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                        .anyMatch(other -> isSameSignature(other, method));
    }

    static boolean isSameSignature(Method one, Method other) {
        return one.equals(other)
                || (one.getName().equals(other.getName())
                        && Arrays.equals(one.getParameterTypes(), other.getParameterTypes()));
    }

    /** Whether a weaver has added the field. */
    public static boolean isOfWeaver(Field field) {
        return field.getName().startsWith("ajc$");
    }

    /**
     * Checks that the methods of these classes that a weaver sees the annotation on are woven.
     *
     * @throws IllegalStateException if one of them is not, or a class has none of them
     */
    static void require(Class<?>... types) {
        List<String> problems = Arrays.stream(types)
                .flatMap(type -> problems(type, annotated(ClassUtils.getUserClass(type))))
                .toList();
        if (!problems.isEmpty()) {
            throw new IllegalStateException("RL-142 not woven, so not limited: "
                    + String.join(", ", problems)
                    + "; start the JVM with -javaagent:aspectjweaver-<version>.jar and include their package in"
                    + " META-INF/aop.xml, or weave when compiling (aspectj-maven-plugin)");
        }
    }

    private static Stream<String> problems(Class<?> type, List<Method> annotated) {
        return annotated.isEmpty()
                ? Stream.of(type.getName() + " (it has no method with the annotation that a weaver sees)")
                : annotated.stream().filter(method -> !isWoven(method)).map(MethodScope::describe);
    }

    private static List<Method> annotated(Class<?> type) {
        return superclasses(type)
                .filter(one -> one != Object.class)
                .flatMap(one -> Arrays.stream(one.getDeclaredMethods()))
                .filter(method -> !method.isSynthetic()
                        && !Modifier.isAbstract(method.getModifiers())
                        && !BODY.matcher(method.getName()).find())
                .filter(method -> isAnnotated(method, SearchStrategy.DIRECT)
                        || (Modifier.isPublic(method.getModifiers())
                                && isAnnotated(method.getDeclaringClass(), SearchStrategy.INHERITED_ANNOTATIONS)))
                .toList();
    }

    private static boolean isAnnotated(AnnotatedElement element, SearchStrategy strategy) {
        return MergedAnnotations.from(element, strategy).isPresent(RateLimited.class);
    }

    /** The method that has its body now takes the object and the arguments first, and then what the weaver adds. */
    private static boolean isWoven(Method method) {
        List<Class<?>> first = Stream.concat(
                        Stream.of(method.getDeclaringClass()).filter(type -> !Modifier.isStatic(method.getModifiers())),
                        Arrays.stream(method.getParameterTypes()))
                .toList();
        return Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                .filter(body -> body.getName().startsWith(method.getName())
                        && BODY.matcher(body.getName()
                                        .substring(method.getName().length()))
                                .matches())
                .map(body -> List.of(body.getParameterTypes()))
                .anyMatch(parameters -> parameters.size() > first.size()
                        && parameters.subList(0, first.size()).equals(first));
    }

    private static Stream<Class<?>> superclasses(Class<?> type) {
        return Stream.iterate(type, Objects::nonNull, Class::getSuperclass);
    }
}
