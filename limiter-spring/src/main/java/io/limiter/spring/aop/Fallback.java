package io.limiter.spring.aop;

import io.limiter.Decision;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The method that answers denied calls. Immutable. */
final class Fallback {
    private final Method method;
    private final boolean wantsDecision;

    private Fallback(Method method, boolean wantsDecision) {
        this.method = method;
        this.wantsDecision = wantsDecision;
    }

    /**
     * The method of that name.
     *
     * @param target the class whose object is called; where a method is not found there, it is one of what it extends, or a
     *     default method
     * @throws IllegalStateException if there is none that fits; the message shows what would
     */
    static Fallback find(MethodSite site, String name, Class<?> target) {
        Method limited = site.method();
        List<Method> candidates = named(name, target, limited);
        Class<?>[] parameters = limited.getParameterTypes();
        Class<?>[] withDecision = Arrays.copyOf(parameters, parameters.length + 1);
        withDecision[parameters.length] = Decision.class;
        for (Class<?>[] wanted : List.of(withDecision, parameters)) {
            for (Method candidate : candidates) {
                if (Arrays.equals(candidate.getParameterTypes(), wanted) && fits(candidate, limited)) {
                    candidate.trySetAccessible();
                    return new Fallback(candidate, wanted == withDecision);
                }
            }
        }
        String found = candidates.isEmpty()
                ? "there is no other method of that name in " + target.getName()
                : "there is " + candidates.stream().map(Fallback::shown).collect(Collectors.joining(", "));
        throw Wrong.at(
                Wrong.FALLBACK,
                site.toString(),
                "fallback = \"" + name + "\": " + found + "; it needs the same parameters and a result that fits: "
                        + shown(limited).replace(limited.getName() + "(", name + "(")
                        + ", or with a Decision as one more parameter at the end");
    }

    /** Answers a denied call. */
    @Nullable
    Object answer(MethodCall call, Decision decision) throws Throwable {
        @Nullable Object[] arguments = call.arguments();
        if (wantsDecision) {
            arguments = Arrays.copyOf(arguments, arguments.length + 1);
            arguments[arguments.length - 1] = decision;
        }
        try {
            return method.invoke(Modifier.isStatic(method.getModifiers()) ? null : call.target(), arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() == null ? thrown : thrown.getCause();
        }
    }

    private static boolean fits(Method candidate, Method limited) {
        boolean reachable = Modifier.isStatic(candidate.getModifiers()) || !Modifier.isStatic(limited.getModifiers());
        Class<?> result = limited.getReturnType();
        return reachable
                && (result == candidate.getReturnType()
                        || (!result.isPrimitive() && ClassUtils.isAssignable(result, candidate.getReturnType())));
    }

    private static List<Method> named(String name, Class<?> target, Method limited) {
        List<Method> named = new ArrayList<>();
        for (Class<?> type = target; type != null && type != Object.class; type = type.getSuperclass()) {
            addNamed(name, type, limited, named);
        }
        for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(target)) {
            addNamed(name, type, limited, named);
        }
        return named;
    }

    private static void addNamed(String name, Class<?> type, Method limited, List<Method> named) {
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(name)
                    && !method.isSynthetic()
                    && !Modifier.isAbstract(method.getModifiers())
                    && !method.equals(limited)) {
                named.add(method);
            }
        }
    }

    private static String shown(Method method) {
        return (Modifier.isStatic(method.getModifiers()) ? "static " : "")
                + method.getReturnType().getSimpleName() + " " + method.getName() + "("
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", "))
                + ")";
    }
}
