package io.limiter.spring.internal;

import io.limiter.internal.config.LimitText;
import io.limiter.internal.config.Problems;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotations;

/** A limited method: its name in messages, and the names for its expressions. Immutable. */
final class MethodScope {
    /** What completes after the method has returned, and nobody waits for here; by name, because some are optional. */
    private static final String COMPLETED_LATER =
            "Future|Callable|DeferredResult|WebAsyncTask|ResponseBodyEmitter|SseEmitter|StreamingResponseBody";

    /** The beans that expressions may name. */
    record Beans(Predicate<String> has, Function<String, Object> get) {}

    private static final String RESULT = "result";
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final Method annotated;
    private final Map<String, Integer> positions = new HashMap<>();
    private final Set<String> names = new LinkedHashSet<>();
    private final @Nullable CallerSource callers;
    private final @Nullable Beans beans;
    private final int parameterCount;

    /**
     * The scope of a method.
     *
     * @param method the method that runs
     * @param annotated the one that has the annotation, for example of an interface, with possibly different parameter
     *     names
     * @param callers null if requests are never known
     * @param beans null without a Spring context
     */
    public MethodScope(Method method, Method annotated, @Nullable CallerSource callers, @Nullable Beans beans) {
        this.method = method;
        this.annotated = annotated;
        this.callers = callers;
        this.beans = beans;
        this.parameterCount = parametersOf(method).length;
        for (int i = 0; i < parameterCount; i++) {
            positions.put("p" + i, i);
            positions.put("a" + i, i);
        }
        addNames(method);
        addNames(annotated);
    }

    /** The scope of an expression that also sees the result of a call, which follows its arguments. */
    MethodScope withResult() {
        MethodScope scope = new MethodScope(method, annotated, callers, beans);
        scope.positions.put(RESULT, method.getParameterCount());
        scope.names.add(RESULT);
        return scope;
    }

    /** The name of a method in messages: {@code com.example.Votes.vote(String, int)}. */
    public static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + signature(method);
    }

    /** The parameters as written: a suspend function of Kotlin has one more, at the end. */
    static Class<?>[] parametersOf(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return KotlinDetector.isSuspendingFunction(method) ? Arrays.copyOf(types, types.length - 1) : types;
    }

    /** The result as written, also that of a suspend function. */
    static Class<?> returned(Method method) {
        return KotlinDetector.isSuspendingFunction(method)
                ? new MethodParameter(method, -1).getParameterType()
                : method.getReturnType();
    }

    /** Whether it is a suspend function of Kotlin. */
    boolean isSuspending() {
        return KotlinDetector.isSuspendingFunction(method);
    }

    /** Its name and its parameters: {@code vote(String, int)}. */
    public static String signature(Method method) {
        return method.getName() + "("
                + Arrays.stream(parametersOf(method)).map(Class::getSimpleName).collect(Collectors.joining(", "))
                + ")";
    }

    /** The method that runs. */
    public Method method() {
        return method;
    }

    /** As in {@link #describe}. */
    @Override
    public String toString() {
        return describe(method);
    }

    /**
     * A mistake in an annotation, or in its values for a call: names the method, what is wrong, and the remedy. The codes
     * are those of docs/diagnostics.md.
     */
    public static IllegalStateException errorAt(Object method, String code, String text) {
        return new IllegalStateException(code + " @RateLimited at " + method + ": " + Problems.visible(text));
    }

    /** Whether its result, or a part of it, is complete only after the end of its call, or another thread makes the call. */
    boolean endsLater() {
        String type = method.getGenericReturnType().getTypeName();
        return type.equals("void")
                ? isAsync(method) || isAsync(method.getDeclaringClass())
                : type.matches(".*\\b(" + COMPLETED_LATER + ")(?![\\w$.]).*");
    }

    private static boolean isAsync(AnnotatedElement element) {
        return MergedAnnotations.from(element, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
                .isPresent("org.springframework.scheduling.annotation.Async");
    }

    /** A mistake in an annotation of this method. */
    IllegalStateException error(String code, String text) {
        return errorAt(this, code, text);
    }

    /** The same, with a cause. */
    IllegalStateException error(String code, String text, Throwable cause) {
        IllegalStateException error = error(code, text);
        error.initCause(cause);
        return error;
    }

    /** The duration of an attribute, in a range as text. */
    Duration duration(String code, String attribute, String text, String least, String most) {
        try {
            Duration time = LimitText.parseDuration(text);
            if (time.compareTo(LimitText.parseDuration(least)) >= 0
                    && time.compareTo(LimitText.parseDuration(most)) <= 0) {
                return time;
            }
        } catch (IllegalArgumentException unreadable) {
            // As one that is out of range.
        }
        throw error(
                code,
                attribute + " = \"" + text + "\" is not a duration from " + least + " to " + most
                        + "; write one such as " + attribute + " = \"" + most + "\"");
    }

    /** The type of a value, for a message. */
    static String typeOf(@Nullable Object value) {
        return value == null ? "null" : "a " + value.getClass().getName();
    }

    /** The index of the parameter, or null if there is none of that name. */
    @Nullable
    Integer position(String parameter) {
        return positions.get(parameter);
    }

    /** The names of the parameters, for a message. */
    String parameters() {
        return !names.isEmpty()
                ? "there are #" + String.join(", #", names)
                : parameterCount == 0
                        ? "the method has no parameters"
                        : "the class file has no parameter names; compile it with -parameters (in Kotlin add"
                                + " org.jetbrains.kotlin:kotlin-reflect), or write #p0 for the first";
    }

    @Nullable
    Beans beans() {
        return beans;
    }

    /** The client of the current request; null if there is none. */
    @Nullable
    Caller caller() {
        return callers == null ? null : callers.current();
    }

    /** The same; throws if there is none. */
    Caller requiredCaller() {
        Caller caller = caller();
        if (caller == null) {
            throw noRequest("the key is the client's address");
        }
        return caller;
    }

    /** Whether a call can be part of a web request. */
    boolean isInRequests() {
        return callers != null;
    }

    /** An exception for a call that needs a web request, but is not part of one. */
    IllegalStateException noRequest(String what) {
        return error(
                "RL-128",
                what
                        + ", and the call is not part of a web request; give a key of parameters, such as key = \"#user\", or key ="
                        + " \"global\" for a quota shared by all callers (requests are known in Spring MVC, or from a CallerSource)");
    }

    private void addNames(Method declared) {
        @Nullable String[] found = NAMES.getParameterNames(declared);
        // Kotlin's reflection does not name the last one of a suspend function, Java's does.
        if (found != null && (found.length == parameterCount || found.length == method.getParameterCount())) {
            for (int i = 0; i < parameterCount; i++) {
                String name = found[i];
                if (name != null) {
                    positions.put(name, i);
                    names.add(name);
                }
            }
        }
    }
}
