package io.limiter.spring.aop;

import io.limiter.spring.expression.MethodScope;
import io.limiter.spring.method.AnnotatedMethod;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.util.ClassUtils;

/** Which classes and methods AspectJ has woven, as far as they show it; which aspect it was can't be seen. */
public final class WovenClasses {
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

    /** The limited methods of a class that no weaver has seen, for a message. */
    static Stream<String> notWoven(Class<?> type) {
        List<AnnotatedMethod> methods = AnnotatedMethod.of(ClassUtils.getUserClass(type));
        return methods.isEmpty()
                ? Stream.of(type.getName() + " (it has no method with the annotation)")
                : methods.stream()
                        .filter(method -> method.isOfInterface() || !isWoven(method.specific()))
                        .map(method -> MethodScope.describe(method.specific()));
    }

    /** A method with advice around it leaves its body in another one, which takes the object and the arguments first. */
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
