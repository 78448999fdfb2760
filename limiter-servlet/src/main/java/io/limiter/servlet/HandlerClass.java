package io.limiter.servlet;

import java.lang.reflect.InvocationTargetException;

/** Makes the rejection handler whose class the configuration names. */
final class HandlerClass {
    private static final String KEY = "RL-114 limiter.http.rejection-handler = ";

    private HandlerClass() {}

    /**
     * A new handler.
     *
     * @throws IllegalArgumentException if there is no such class, or it can't be used; the message says what to do
     */
    static RejectionHandler make(String name, ClassLoader loader) {
        try {
            return Class.forName(name, true, loader)
                    .asSubclass(RejectionHandler.class)
                    .getConstructor()
                    .newInstance();
        } catch (ClassNotFoundException missing) {
            throw new IllegalArgumentException(
                    KEY + name + ": there is no such class on the class path of the web application; add it, or correct"
                            + " the name (a class within another is written com.example.Outer$Inner)",
                    missing);
        } catch (ClassCastException another) {
            throw new IllegalArgumentException(
                    KEY + name + ": is no " + RejectionHandler.class.getName() + "; let it implement that interface",
                    another);
        } catch (InvocationTargetException failed) {
            throw new IllegalArgumentException(
                    KEY + name + ": its constructor failed: " + failed.getCause(), failed.getCause());
        } catch (ReflectiveOperationException | LinkageError unusable) {
            throw new IllegalArgumentException(
                    KEY + name + ": can't be made (" + unusable
                            + "); make it a public class with a public constructor without parameters",
                    unusable);
        }
    }
}
