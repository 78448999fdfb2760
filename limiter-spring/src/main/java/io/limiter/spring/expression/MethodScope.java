package io.limiter.spring.expression;

import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** A limited method: how messages call it, and what its expressions may name. Immutable. */
public final class MethodScope {
    /**
     * What calls a method from a thread that serves no web request; by name, since all of it is optional. The listeners of JMS,
     * Kafka and RabbitMQ carry the second one.
     */
    private static final List<String> CALLED_BY_NO_REQUEST = List.of(
            "org.springframework.scheduling.annotation.Scheduled",
            "org.springframework.messaging.handler.annotation.MessageMapping");

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final Map<String, Integer> positions = new HashMap<>();
    private final Set<String> names = new LinkedHashSet<>();
    private final @Nullable CallerSource callers;
    private final @Nullable Beans beans;
    private final @Nullable String callerWithoutRequest;

    /**
     * The scope of a method.
     *
     * @param method the method that runs
     * @param annotated the one that has the annotation: of an interface, say, which may call its parameters otherwise
     * @param callers null where no request is ever known
     * @param beans null where there is no Spring context
     */
    public MethodScope(Method method, Method annotated, @Nullable CallerSource callers, @Nullable Beans beans) {
        this.method = method;
        this.callers = callers;
        this.beans = beans;
        this.callerWithoutRequest =
                callers == null || callers.isOfWebRequestsOnly() ? callerWithoutRequest(method) : null;
        for (int i = 0; i < method.getParameterCount(); i++) {
            positions.put("p" + i, i);
            positions.put("a" + i, i);
        }
        addNames(method);
        addNames(annotated);
    }

    /** How messages call a method: {@code com.example.Votes.vote(String, int)}. */
    public static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + signature(method);
    }

    /** Its name and its parameters: {@code vote(String, int)}. */
    public static String signature(Method method) {
        return method.getName() + "("
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", "))
                + ")";
    }

    /** The method that runs. */
    public Method method() {
        return method;
    }

    /** As {@link #describe} says. */
    @Override
    public String toString() {
        return describe(method);
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
        return names.isEmpty()
                ? "the class file has no parameter names; compile it with -parameters, or write #p0 for the first"
                : "there are #" + String.join(", #", names);
    }

    @Nullable
    Beans beans() {
        return beans;
    }

    /** Whose request this thread works for; null when it is none. */
    @Nullable
    Caller caller() {
        return callers == null ? null : callers.current();
    }

    /** Whether a call can belong to a web request. */
    boolean isInRequests() {
        return callers != null && callerWithoutRequest == null;
    }

    /** An exception for what needs a web request, and a call, or each one, belongs to none. */
    IllegalStateException noRequest(String what) {
        String why = callerWithoutRequest == null
                ? "the call belongs to no web request"
                : callerWithoutRequest + " calls it outside of web requests";
        return AnnotationError.at(
                this,
                "RL-128",
                what + ", and " + why + "; give a key of parameters, such as key = \"#user\", or key = \"global\""
                        + " for one quota of all callers (requests are known in Spring MVC, or from a CallerSource)");
    }

    /** The annotation by which a method is called from threads without a web request, such as {@code @Scheduled}; null if it has none. */
    private static @Nullable String callerWithoutRequest(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        // As it is written on the method: what carries it says more than what it carries.
        return CALLED_BY_NO_REQUEST.stream()
                .map(all::get)
                .filter(MergedAnnotation::isPresent)
                .map(found -> "@" + found.getRoot().getType().getSimpleName())
                .findFirst()
                .orElse(null);
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
}
