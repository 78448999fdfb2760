package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Provides the objects of classes named in a configuration. Thread-safe. */
public final class NamedClasses {
    private static final Logger LOG = LoggerFactory.getLogger(NamedClasses.class);
    private final ClassLoader loader;
    private final Function<? super Class<?>, ?> instances;

    /**
     * For the classes of a configuration.
     *
     * @param loader finds them; null for that of the current thread
     * @param instances returns an existing object of a class, such as a bean; null if a new one is to be made
     */
    public NamedClasses(
            @Nullable ClassLoader loader, Function<? super Class<?>, ? extends @Nullable Object> instances) {
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        this.loader = loader != null ? loader : ofThread != null ? ofThread : NamedClasses.class.getClassLoader();
        this.instances = Objects.requireNonNull(instances, "instances");
    }

    /**
     * Throws a failure again if this JVM may be unable to go on, such as {@link OutOfMemoryError}. Any other one, also an {@link Error}
     * such as {@link NoClassDefFoundError}, is a failure of the class that was called.
     */
    public static void rethrowFatal(Throwable failure) {
        if (failure instanceof VirtualMachineError fatal && !(failure instanceof StackOverflowError)) {
            throw fatal;
        }
    }

    /**
     * What a class of the application returns for a request; null if it fails or returns nothing, which is logged. One that is written for
     * the requests of another server fails at each of them.
     *
     * @param finding with the code, the rule and what is used instead
     */
    static <T> Function<RuleRequest, @Nullable T> tried(Function<Object, @Nullable T> called, String finding) {
        Throttle log = Throttle.hourly(TimeSource.system()::nowMicros);
        return request -> {
            Throwable failure = null;
            T value = null;
            try {
                value = called.apply(request.request().server());
            } catch (Throwable failed) {
                rethrowFatal(failed);
                failure = failed;
            }
            if (value == null && log.tryPass()) {
                LOG.warn("{} for every request. Logged once an hour", finding, failure);
            }
            return value;
        };
    }

    /**
     * The object of a class: the application's own, or a new one.
     *
     * @param property names the class, for the message
     * @throws IllegalArgumentException if there is no such class, it has another type, or no object can be made
     */
    public <T> T get(String property, String name, Class<T> type) {
        try {
            Class<? extends T> found = Class.forName(name, true, loader).asSubclass(type);
            Object given = instances.apply(found);
            return given == null ? found.getConstructor().newInstance() : found.cast(given);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError failed) {
            Throwable cause = failed instanceof InvocationTargetException ? failed.getCause() : failed;
            throw new IllegalArgumentException(
                    "RL-114 " + property + " = " + name + ": can't be made (" + cause
                            + "); name a public class on the class path of the web application that implements "
                            + type.getName()
                            + " and has a public constructor without parameters (a class within another"
                            + " is written com.example.Outer$Inner)",
                    cause);
        }
    }
}
