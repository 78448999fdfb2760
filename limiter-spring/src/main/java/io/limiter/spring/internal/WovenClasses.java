package io.limiter.spring.internal;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.core.KotlinDetector;
import org.springframework.util.ClassUtils;

/** Detects which classes and methods AspectJ has woven; the aspect can't be detected. */
final class WovenClasses {
    private WovenClasses() {}

    /** Whether AspectJ has woven a class. */
    public static boolean isPerhapsWoven(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields()).anyMatch(WovenClasses::isOfWeaver);
    }

    /** Whether it has woven the class of a method, or one with a method that this overrides. */
    public static boolean isPerhapsWoven(Method method) {
        return isPerhapsWoven(method.getDeclaringClass()) || overridesWoven(method);
    }

    /** Whether it overrides, and so may call, a method that may be woven. */
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

    /** The limited methods of a class that are not woven, for a message. */
    static Stream<String> notWoven(Class<?> type) {
        List<AnnotatedMethod> methods = AnnotatedMethod.of(ClassUtils.getUserClass(type));
        return methods.isEmpty()
                ? Stream.of(type.getName() + " (it has no method with the annotation)")
                : methods.stream()
                        .filter(method -> method.isOfInterface()
                                || KotlinDetector.isSuspendingFunction(method.specific())
                                || !isWoven(method.specific()))
                        .map(method -> MethodScope.describe(method.specific()));
    }

    /**
     * The body of a method with around advice is moved to another method, which has the object and the arguments as
     * first parameters.
     */
    private static boolean isWoven(Method method) {
        List<Class<?>> first = new ArrayList<>(List.of(method.getParameterTypes()));
        if (!Modifier.isStatic(method.getModifiers())) {
            first.add(0, method.getDeclaringClass());
        }
        Pattern body = Pattern.compile(Pattern.quote(method.getName()) + "_aroundBody[0-9]+(\\$advice)?");
        return Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                .anyMatch(other -> body.matcher(other.getName()).matches()
                        && other.getParameterCount() > first.size()
                        && List.of(other.getParameterTypes())
                                .subList(0, first.size())
                                .equals(first));
    }

    private static Stream<Class<?>> superclasses(Class<?> type) {
        return Stream.iterate(type, Objects::nonNull, Class::getSuperclass);
    }
}
