package io.limiter.spring.internal;

import io.limiter.Decision;
import io.limiter.spring.RateLimited;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/** The method that answers denied calls, possibly with the decision after the parameters of the limited one. Immutable. */
record Fallback(Method method, boolean takesDecision) {
    Fallback {
        method.trySetAccessible();
    }

    /**
     * The only method that annotations name; null if they name none.
     *
     * @param target the class of the object; a method that is not found there is looked up in its superclasses, or is a
     *     default method
     * @throws IllegalStateException if there is no compatible one; the message shows its form
     */
    static @Nullable Fallback find(
            MethodScope scope, List<MergedAnnotation<RateLimited>> annotations, Class<?> target) {
        List<String> names = annotations.stream()
                .map(found -> found.getString("fallback"))
                .filter(text -> !text.isEmpty())
                .distinct()
                .toList();
        if (names.size() > 1) {
            throw scope.error("RL-121", "it has the fallbacks " + names + "; a method has one, so keep one of them");
        } else if (names.isEmpty()) {
            return null;
        }
        String name = names.get(0);
        Method limited = scope.method();
        List<Method> candidates = Arrays.stream(ReflectionUtils.getAllDeclaredMethods(target))
                .filter(method -> method.getName().equals(name)
                        && !method.isSynthetic()
                        && !Modifier.isAbstract(method.getModifiers())
                        && !method.equals(limited))
                .toList();
        return candidates.stream()
                .filter(candidate -> answers(candidate, limited) && fits(candidate, limited))
                // Prefer one with the decision, then that of the class itself.
                .max(Comparator.comparingInt(Method::getParameterCount))
                .map(candidate -> new Fallback(
                        candidate,
                        MethodScope.parametersOf(candidate).length > MethodScope.parametersOf(limited).length))
                .orElseThrow(() -> scope.error(
                        "RL-125",
                        "fallback = \"" + name + "\": no other method of that name in " + target.getName()
                                + " fits, of "
                                + candidates.stream().map(Fallback::shown).toList()
                                + "; it needs the same parameters and a result that fits: "
                                + shown(limited).replace(limited.getName() + "(", name + "(")
                                + ", or with a Decision as one more parameter at the end"));
    }

    /** Whether a method has the parameters of a fallback of another one. */
    static boolean answers(Method method, Method limited) {
        Class<?>[] parameters = MethodScope.parametersOf(limited);
        Class<?>[] own = MethodScope.parametersOf(method);
        return (Arrays.equals(own, parameters)
                        || Arrays.equals(own, ObjectUtils.addObjectToArray(parameters, Decision.class)))
                && (!KotlinDetector.isSuspendingFunction(method) || KotlinDetector.isSuspendingFunction(limited));
    }

    /** Answers a denied call. */
    @Nullable
    Object answer(MethodCall call, Decision decision) throws Throwable {
        // Those of a suspend function end with its continuation.
        boolean isSuspending = KotlinDetector.isSuspendingFunction(method);
        @Nullable Object[] arguments = Arrays.copyOf(call.arguments, method.getParameterCount());
        if (takesDecision) {
            arguments[arguments.length - (isSuspending ? 2 : 1)] = decision;
        }
        if (isSuspending) {
            arguments[arguments.length - 1] = call.arguments[call.arguments.length - 1];
        }
        return call.call(method, arguments);
    }

    private static boolean fits(Method candidate, Method limited) {
        boolean reachable = Modifier.isStatic(candidate.getModifiers()) || !Modifier.isStatic(limited.getModifiers());
        Class<?> result = MethodScope.returned(limited);
        Class<?> own = MethodScope.returned(candidate);
        return reachable && (result == own || (!result.isPrimitive() && ClassUtils.isAssignable(result, own)));
    }

    private static String shown(Method method) {
        return (Modifier.isStatic(method.getModifiers()) ? "static " : "")
                + MethodScope.returned(method).getSimpleName() + " " + MethodScope.signature(method);
    }
}
