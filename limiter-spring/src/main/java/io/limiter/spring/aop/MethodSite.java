package io.limiter.spring.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/** A limited method: how messages call it, and what its expressions may name. Immutable. */
final class MethodSite {
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final String described;
    private final Map<String, Integer> positions = new HashMap<>();
    private final Set<String> names = new LinkedHashSet<>();
    private final CallerSource callers;
    private final boolean inRequests;
    private final @Nullable String callerWithoutRequest;
    private final Beans beans;
    private final boolean woven;
    private final boolean overridesWoven;

    /**
     * A site.
     *
     * @param method the method that runs
     * @param annotated the one that has the annotation: of an interface, say, which may call its parameters otherwise
     * @param callers null where no request is ever known
     */
    MethodSite(Method method, @Nullable Method annotated, @Nullable CallerSource callers, Beans beans) {
        this.method = method;
        this.described = described(method);
        this.callers = callers == null ? () -> null : callers;
        this.callerWithoutRequest =
                callers == null || callers.isOfWebRequestsOnly() ? Annotations.callerWithoutRequest(method) : null;
        this.inRequests = callers != null && callerWithoutRequest == null;
        this.beans = beans;
        this.overridesWoven = overridesWoven(method);
        this.woven = overridesWoven || looksWoven(method.getDeclaringClass());
        for (int i = 0; i < method.getParameterCount(); i++) {
            positions.put("p" + i, i);
            positions.put("a" + i, i);
        }
        addNames(method);
        if (annotated != null && !annotated.equals(method)) {
            addNames(annotated);
        }
    }

    Method method() {
        return method;
    }

    /** {@code com.example.Votes.vote(String, int)}. */
    @Override
    public String toString() {
        return described;
    }

    /** Where the parameter stands, or null when there is none of that name. */
    @Nullable
    Integer position(String parameter) {
        return positions.get(parameter);
    }

    /** The names of the parameters, for a message. */
    String parameters() {
        if (method.getParameterCount() == 0) {
            return "the method has no parameters";
        }
        if (names.isEmpty()) {
            return "the class file has no parameter names; compile it with -parameters, or write #p0 for the first";
        }
        return "there are " + names.stream().map(name -> "#" + name).collect(Collectors.joining(", "));
    }

    Set<String> parameterNames() {
        return names;
    }

    CallerSource callers() {
        return callers;
    }

    /** Whether a call can belong to a web request. */
    boolean isInRequests() {
        return inRequests;
    }

    /** Why a call belongs to no web request, for a message. */
    String whyNoRequest() {
        return callerWithoutRequest == null
                ? "the call belongs to no web request"
                : callerWithoutRequest + " calls it outside of web requests";
    }

    Beans beans() {
        return beans;
    }

    /** Whether AspectJ has been at a class that has it, or one that it overrides; which aspect it was can't be seen. */
    boolean looksWoven() {
        return woven;
    }

    /** Whether it overrides a method that may be woven, and so may call that. */
    boolean overridesWoven() {
        return overridesWoven;
    }

    private static boolean overridesWoven(Method method) {
        if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
            return false;
        }
        for (Class<?> type = method.getDeclaringClass().getSuperclass(); type != null; type = type.getSuperclass()) {
            if (looksWoven(type)
                    && Arrays.stream(type.getDeclaredMethods())
                            .anyMatch(other -> other.getName().equals(method.getName())
                                    && Arrays.equals(other.getParameterTypes(), method.getParameterTypes()))) {
                return true;
            }
        }
        return false;
    }

    static boolean looksWoven(Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            if (isOfWeaver(field)) {
                return true;
            }
        }
        return false;
    }

    static boolean isOfWeaver(Field field) {
        return field.getName().startsWith("ajc$");
    }

    private void addNames(Method declared) {
        @Nullable String[] found = NAMES.getParameterNames(declared);
        if (found != null && found.length == method.getParameterCount()) {
            for (int i = 0; i < found.length; i++) {
                String name = found[i];
                if (name != null) {
                    positions.put(name, i);
                    names.add(name);
                }
            }
        }
    }

    static String described(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName() + "("
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", "))
                + ")";
    }
}
