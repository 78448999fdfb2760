package io.limiter.servlet;

import io.limiter.internal.DiagnosticLog;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * The end of an exchange on Jetty 12, which tells no listener of a request when it aborts its answer: after the client has reset a
 * stream, say. A web application may not see Jetty's classes, so they are reached from the request.
 */
final class JettyExchange {
    private static final Logger LOG = DiagnosticLog.of(JettyExchange.class);

    private JettyExchange() {}

    /** Runs the task once at the end of all, if this is a request of Jetty. */
    static void atEnd(ServletRequest wrapped, Runnable task) {
        ServletRequest request = wrapped;
        while (request instanceof ServletRequestWrapper outer) {
            request = outer.getRequest();
        }
        Class<?> type = request.getClass();
        if (!type.getName().startsWith("org.eclipse.jetty.")) {
            return;
        }
        try {
            Object exchange = type.getMethod("getRequest").invoke(request);
            Class<?> core = Class.forName("org.eclipse.jetty.server.Request", false, type.getClassLoader());
            Method add = core.getMethod("addCompletionListener", core, Consumer.class);
            add.invoke(null, exchange, (Consumer<Object>) failure -> task.run());
        } catch (InvocationTargetException over) {
            // There is no exchange any more.
            task.run();
        } catch (ReflectiveOperationException | RuntimeException unlike) {
            // Another version: then what such a client holds comes back when Jetty tells it.
            LOG.debug("the end of an exchange on Jetty is not known", unlike);
        }
    }
}
