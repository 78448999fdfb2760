package io.limiter.config;

import java.lang.reflect.InvocationTargetException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes objects of classes that a configuration names. */
public final class ConfiguredClass {
    private ConfiguredClass() {}

    /** Whether a text can be the name of a class. */
    static boolean isName(String text) {
        String word = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*";
        return text.matches("(?=.{1,500}$)" + word + "(\\." + word + ")*");
    }

    /**
     * An object of that class, made here.
     *
     * @throws IllegalArgumentException if it can't be made
     */
    public static <T> T make(String key, String name, Class<T> type, ClassLoader loader) {
        return make(key, name, type, loader, any -> null);
    }

    /**
     * An object of that class.
     *
     * @param key the property that names it, for the message
     * @param loader finds it
     * @param beans gives the application's own object of the class; null for one that is made here
     * @throws IllegalArgumentException if it can't be made
     */
    public static <T> T make(
            String key, String name, Class<T> type, ClassLoader loader, Function<Class<?>, @Nullable Object> beans) {
        try {
            Class<? extends T> named = Class.forName(name, true, loader).asSubclass(type);
            Object bean = beans.apply(named);
            return bean != null ? named.cast(bean) : named.getConstructor().newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError failed) {
            Throwable cause = failed instanceof InvocationTargetException ? failed.getCause() : failed;
            throw new IllegalArgumentException(
                    "RL-114 " + key + " = " + name + ": can't be made (" + cause
                            + "); name a public class on the class path of the application that implements "
                            + type.getName()
                            + " and has a public constructor without parameters (a class within another"
                            + " is written com.example.Outer$Inner)",
                    cause);
        }
    }
}
