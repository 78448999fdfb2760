package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * An attribute of the authenticated user: what a public method {@code plan()}, {@code getPlan()}, {@code getAttribute("plan")} or {@code
 * getClaim("plan")} of the principal returns, or of the object that its {@code getPrincipal()} returns, as with Spring Security.
 */
final class UserAttribute {
    private static final Logger LOG = DiagnosticLog.of(UserAttribute.class);

    /** Found once for each class, and unloaded with it. */
    private static final ClassValue<Map<String, Method[]>> METHODS = new ClassValue<>() {
        @Override
        protected Map<String, Method[]> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private UserAttribute() {}

    /** The attribute as text; null if there is no user or the user has none. */
    static @Nullable String of(@Nullable Principal user, String name) {
        Object holder = user;
        for (int depth = 0; holder != null && depth < 3; depth++) {
            Object value = read(holder, name);
            if (value != null) {
                return value.toString();
            }
            holder = read(holder, "principal");
        }
        return null;
    }

    private static @Nullable Object read(Object holder, String name) {
        Method[] methods = METHODS.get(holder.getClass()).computeIfAbsent(name, n -> find(holder.getClass(), n));
        for (Method method : methods) {
            try {
                Object value = method.getParameterCount() == 0 ? method.invoke(holder) : method.invoke(holder, name);
                if (value != null) {
                    return value;
                }
            } catch (ReflectiveOperationException | RuntimeException unreadable) {
                LOG.debug("an attribute of a user can't be read and counts as missing", unreadable);
            }
        }
        return null;
    }

    private static Method[] find(Class<?> type, String name) {
        String getter = "get" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        return Stream.of(type.getMethods())
                .filter(method -> method.getParameterCount() == 0
                        ? method.getName().equals(name) || method.getName().equals(getter)
                        : method.getParameterCount() == 1
                                && method.getParameterTypes()[0] == String.class
                                && (method.getName().equals("getAttribute")
                                        || method.getName().equals("getClaim")))
                .filter(Method::trySetAccessible)
                .toArray(Method[]::new);
    }
}
