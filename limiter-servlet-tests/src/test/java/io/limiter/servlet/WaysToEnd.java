package io.limiter.servlet;

import io.limiter.kit.Await;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Servlets that end a request in every way there is, and a count of the requests that the application works on. */
final class WaysToEnd {
    /** Without {@code /stream}, whose clients read in other ways too. */
    static final List<String> PATHS = List.of(
            "/answer",
            "/error",
            "/throw",
            "/forward",
            "/include",
            "/async",
            "/async-dispatch",
            "/async-timeout",
            "/async-throw");

    private static final System.Logger LOG = System.getLogger(WaysToEnd.class.getName());

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final Collection<String> paths = new ConcurrentLinkedQueue<>();

    /** Adds the servlets, each of which does this work, and the count. Only after the limiter's filter. */
    Container on(Container server, WebServer.Answer work) {
        return server.filter("running", new Running())
                .servlet("/answer", work)
                .servlet("/error", (request, response) -> {
                    work.to(request, response);
                    response.sendError(503);
                })
                .servlet("/throw", (request, response) -> {
                    work.to(request, response);
                    throw new ServletException("on purpose");
                })
                .servlet("/forward", WebServer.Answer.forward("/answer"))
                .servlet("/include", WebServer.Answer.include("/answer"))
                .servlet("/async", (request, response) -> later(request, () -> work.to(request, response)))
                .servlet(
                        "/async-dispatch",
                        (request, response) -> request.startAsync().dispatch("/answer"))
                .servlet("/async-timeout", (request, response) -> {
                    work.to(request, response);
                    // Jetty 12.1 rarely loses a timeout that is over before the thread has left the request, without a
                    // filter too.
                    request.startAsync().setTimeout(2_000);
                })
                .servlet("/async-throw", (request, response) -> {
                    if (request.getAttribute("again") != null) {
                        throw new ServletException("on purpose");
                    }
                    request.setAttribute("again", true);
                    work.to(request, response);
                    request.startAsync().dispatch("/async-throw");
                })
                .servlet("/stream", (request, response) -> {
                    // The buffers of a connection take some megabytes.
                    try {
                        stream(request, response);
                    } finally {
                        work.to(request, response);
                    }
                })
                .servlet("/swallow", (request, response) -> {
                    try {
                        stream(request, response);
                    } catch (IOException gone) {
                        work.to(request, response);
                    }
                })
                .servlet("/print", (request, response) -> {
                    print(response);
                    work.to(request, response);
                })
                .servlet(
                        "/async-stream",
                        (request, response) -> later(request, () -> {
                            stream(request, response);
                            work.to(request, response);
                        }))
                .servlet(
                        "/async-print",
                        (request, response) -> later(request, () -> {
                            print(response);
                            work.to(request, response);
                        }))
                .servlet("/async-rethrow", (request, response) -> {
                    // As Spring does with a StreamingResponseBody.
                    if (request.getAttribute("thrown") instanceof IOException thrown) {
                        throw thrown;
                    }
                    AsyncContext async = request.startAsync();
                    async.setTimeout(0);
                    CompletableFuture.runAsync(() -> {
                        try {
                            stream(request, response);
                        } catch (IOException gone) {
                            request.setAttribute("thrown", gone);
                        } finally {
                            async.dispatch();
                        }
                    });
                })
                .servlet("/stalled", (request, response) -> {
                    response.getOutputStream().print("some");
                    response.flushBuffer();
                    work.to(request, response);
                    request.startAsync().setTimeout(1_000);
                });
    }

    private interface Work {
        void run() throws IOException, ServletException;
    }

    private static void later(HttpServletRequest request, Work work) {
        AsyncContext async = request.startAsync();
        async.setTimeout(0);
        CountDownLatch ended = new CountDownLatch(1);
        async.addListener(new WaitingForWork(ended));
        CompletableFuture.runAsync(() -> {
            try {
                work.run();
            } catch (IOException | ServletException gone) {
                // As an application does that has nobody to tell it.
                LOG.log(System.Logger.Level.DEBUG, "the client has left", gone);
            } finally {
                try {
                    async.complete();
                } finally {
                    ended.countDown();
                }
            }
        });
    }

    /**
     * Keeps a container from ending a request whose connection failed while it is worked for: Tomcat would use its response for the
     * next request, into which the work then writes.
     */
    private record WaitingForWork(CountDownLatch ended) implements AsyncListener {
        @Override
        public void onError(AsyncEvent event) throws IOException {
            try {
                if (!ended.await(1, TimeUnit.MINUTES)) {
                    throw new IOException("the work does not end");
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {}

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }

    private static void stream(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int blocks = request.getParameter("endless") == null ? 100 : 1_000_000;
        for (int i = 0; i < blocks; i++) {
            response.getOutputStream().write(new byte[64_000]);
        }
    }

    /** Until its client has left; a writer does not throw. */
    private static void print(HttpServletResponse response) throws IOException {
        while (!response.getWriter().checkError()) {
            response.getWriter().print("x".repeat(64_000));
        }
    }

    /** How many requests the application works on. */
    int running() {
        return running.get();
    }

    /** The most at any time. */
    int most() {
        return most.get();
    }

    void awaitRunning(int number) {
        Await.until(number + " run", () -> running.get() == number);
    }

    /** Reads some of a stream and leaves, or reads all of it; returns the status, 0 where the server closed the connection. */
    static int read(Container server, boolean stays) {
        try (Socket socket = server.connection("GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")) {
            byte[] some = new byte[8_000];
            int status = Container.status(socket);
            for (int i = 0; socket.getInputStream().read(some) >= 0 && (stays || i < 3); i++) {
                Thread.yield();
            }
            return status;
        } catch (IOException reset) {
            return 0;
        }
    }

    /** Which requests run. */
    @Override
    public String toString() {
        return paths.toString();
    }

    private void begin(String path) {
        paths.add(path);
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
    }

    private void end(String path) {
        paths.remove(path);
        running.decrementAndGet();
    }

    /** Counts a request from its first dispatch to the end of the last one, or of its asynchronous work. */
    private final class Running extends HttpFilter {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            if (request.getDispatcherType() != DispatcherType.REQUEST) {
                chain.doFilter(request, response);
                return;
            }
            String path = request.getServletPath();
            begin(path);
            try {
                chain.doFilter(request, response);
            } finally {
                if (request.isAsyncStarted()) {
                    request.getAsyncContext().addListener(new Listener(() -> {}, () -> end(path)));
                } else {
                    end(path);
                }
            }
        }
    }

    /** Hears of the end of asynchronous work. */
    record Listener(Runnable timedOut, Runnable ended) implements AsyncListener {
        @Override
        public void onTimeout(AsyncEvent event) {
            timedOut.run();
        }

        @Override
        public void onComplete(AsyncEvent event) {
            ended.run();
        }

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
