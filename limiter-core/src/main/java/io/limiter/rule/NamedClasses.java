package io.limiter.rule;

import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Gives the objects whose classes a configuration names. Thread-safe. */
public final class NamedClasses {
    private final ClassLoader loader;
    private final Function<? super Class<?>, ?> instances;

    /**
     * Of classes that a loader finds.
     *
     * @param instances gives the object of a class that the application has already, such as a bean; null for a class of which
     *     one is to be made
     */
    public NamedClasses(ClassLoader loader, Function<? super Class<?>, ? extends @Nullable Object> instances) {
        this.loader = Objects.requireNonNull(loader, "loader");
        this.instances = Objects.requireNonNull(instances, "instances");
    }

    /**
     * The object of a class: the one that the application has, or a new one.
     *
     * @param property names the class, for the message
     * @throws IllegalArgumentException if there is no such class, it is no such type, or none can be made
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
