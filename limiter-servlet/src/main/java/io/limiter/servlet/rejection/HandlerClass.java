package io.limiter.servlet.rejection;

import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;

/** Makes the rejection handler whose class the configuration names. */
final class HandlerClass {
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
            throw unusable(
                    name,
                    "there is no such class on the class path of the web application; add it, or correct the name (a"
                            + " class within another is written com.example.Outer$Inner)",
                    missing);
        } catch (ClassCastException another) {
            throw unusable(
                    name, "is no " + RejectionHandler.class.getName() + "; let it implement that interface", another);
        } catch (InvocationTargetException failed) {
            throw unusable(name, "its constructor failed: " + failed.getCause(), failed.getCause());
        } catch (ReflectiveOperationException | LinkageError failed) {
            throw unusable(
                    name,
                    "can't be made (" + failed
                            + "); make it a public class with a public constructor without parameters",
                    failed);
        }
    }

    private static IllegalArgumentException unusable(String name, String why, @Nullable Throwable cause) {
        return new IllegalArgumentException("RL-114 limiter.http.rejection-handler = " + name + ": " + why, cause);
    }
}
