package io.limiter.servlet;

import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of asynchronous work that a container tells to no listener, because the client has left. Jetty 12 runs a task when it
 * aborts an answer. Tomcat forgets a stream of HTTP/2: from then on it does nothing for the request, not even when the application
 * completes it or its time is over. It also recycles a request of HTTP/1.1 whose connection fails while the first dispatch returns.
 * So its requests are checked every few seconds. A web application may not see the classes of its
 * container, so they are reached from the request.
 */
final class UnreportedEnd {
    private static final Logger LOG = LoggerFactory.getLogger(UnreportedEnd.class);

    private static final Throttle WARNINGS = Throttle.hourly(TimeSource.system()::nowMicros);

    private static final long BETWEEN_LOOKS_SECONDS = 5;

    private UnreportedEnd() {}

    /**
     * Runs the task when asynchronous work has ended, unless that was reported before.
     *
     * @param isAwaited whether the end was not reported
     * @param isDispatched whether a dispatch of the request is running, which then is not its end
     */
    static void watch(
            HttpServletRequest wrapped, BooleanSupplier isAwaited, BooleanSupplier isDispatched, Runnable task) {
        HttpServletRequest request = new ServletHttpRequest(wrapped).received().server();
        String type = request.getClass().getName();
        try {
            if (type.startsWith("org.eclipse.jetty.")) {
                Object exchange = request.getClass().getMethod("getRequest").invoke(request);
                Class<?> core = Class.forName(
                        "org.eclipse.jetty.server.Request",
                        false,
                        request.getClass().getClassLoader());
                Method add = core.getMethod("addCompletionListener", core, Consumer.class);
                add.invoke(null, exchange, (Consumer<Object>) failure -> task.run());
            } else if (type.equals("org.apache.catalina.connector.RequestFacade")) {
                BooleanSupplier isOver = request.getProtocol().startsWith("HTTP/2")
                        ? ofTomcat(request)
                        : () -> request.getServletContext() == null;
                look(isAwaited, isDispatched, isOver, task);
            }
        } catch (InvocationTargetException over) {
            // There is no exchange any more.
            task.run();
        } catch (ReflectiveOperationException | RuntimeException unlike) {
            if (WARNINGS.tryPass()) {
                LOG.warn(
                        "RL-334 a stream of HTTP/2 that a client breaks can't be seen to end, because this container is unlike those"
                                + " that are known ({}): such a client may keep a permit of a concurrent limit until the request's"
                                + " timeout, or for good. Logged once an hour",
                        unlike.toString());
            }
        }
    }

    private static void look(
            BooleanSupplier isAwaited, BooleanSupplier isDispatched, BooleanSupplier isOver, Runnable task) {
        CompletableFuture.delayedExecutor(BETWEEN_LOOKS_SECONDS, TimeUnit.SECONDS)
                .execute(() -> {
                    if (!isAwaited.getAsBoolean()) {
                        return;
                    }
                    if (isOver(isOver) && !isDispatched.getAsBoolean()) {
                        task.run();
                    } else {
                        look(isAwaited, isDispatched, isOver, task);
                    }
                });
    }

    /** Tomcat throws for a request that it has recycled. */
    private static boolean isOver(BooleanSupplier ended) {
        try {
            return ended.getAsBoolean();
        } catch (RuntimeException recycled) {
            return true;
        }
    }

    /** Not before the application has ended: a client that breaks its stream must not get its permit back while it is worked for. */
    private static BooleanSupplier ofTomcat(HttpServletRequest request) throws ReflectiveOperationException {
        Object inner = value(request.getClass(), "request", request);
        Object coyote = inner.getClass().getMethod("getCoyoteRequest").invoke(inner);
        Object processor = value(coyote.getClass(), "hook", coyote);
        Object stream = value(processor.getClass(), "stream", processor);
        Object handler = value(processor.getClass(), "handler", processor);
        Class<?> ofHandlers = processor.getClass().getDeclaredField("handler").getType();
        Map<?, ?> streams = (Map<?, ?>) value(ofHandlers, "streams", handler);
        AtomicLong forgottenNanos = new AtomicLong();
        return () -> {
            if (streams.containsValue(stream)) {
                return false;
            }
            forgottenNanos.compareAndSet(0, System.nanoTime());
            return !request.isAsyncStarted() || isOver(request.getAsyncContext().getTimeout(), forgottenNanos.get());
        };
    }

    /** The container would have ended it by now. */
    private static boolean isOver(long timeoutMillis, long sinceNanos) {
        return timeoutMillis > 0 && System.nanoTime() - sinceNanos > TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    private static Object value(Class<?> type, String field, Object of) throws ReflectiveOperationException {
        Field found = type.getDeclaredField(field);
        found.setAccessible(true);
        return found.get(of);
    }
}
