package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.http.internal.RequestLedger;
import io.limiter.http.internal.request.Request;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The ledger of a request that a container dispatches, which knows when the application has ended. */
final class ServletLedger extends RequestLedger implements AsyncListener {
    private static final int MOST_CAUSES = 20;

    /** Of the current dispatch; if that is denied, also of the parts of its answer that were not allowed. */
    private List<String> paths = List.of();

    /** For the part of the answer that is being decided. */
    private List<String> pathsOfPart = List.of();

    private boolean isPart;
    /** What is being written to deny the current dispatch. */
    private @Nullable Answer rejecting;

    private boolean answeredLater;
    /** How many calls of the filter chain have not returned. */
    private volatile int depth;
    /** What settles it at the end of asynchronous work. */
    private volatile @Nullable Awaited awaited;

    private record Awaited(HttpServletRequest request, HttpServletResponse response) {}

    private ServletLedger(RateLimiter owner, @Nullable RequestLedger earlier) {
        super(owner, earlier);
    }

    /** The ledger of the request for this owner. */
    static ServletLedger of(Request request, RateLimiter owner) {
        return of(request, owner, ServletLedger.class, ServletLedger::new);
    }

    /** Only the answer to a denial is exempt from being a new try. */
    @Override
    protected void begin(Request dispatch, List<String> to) {
        isPart = isOpen() && isAnswer((HttpServletRequest) dispatch.server(), to);
        if (isPart) {
            // If it is not allowed, its path is a denied one too.
            paths = Stream.concat(paths.stream(), pathsOfPart.stream()).toList();
            pathsOfPart = to;
            return;
        }
        super.begin(dispatch, to);
        paths = to;
        pathsOfPart = List.of();
        rejecting = null;
        answeredLater = false;
    }

    @Override
    protected void allow() {
        if (isPart) {
            pathsOfPart = List.of();
        } else {
            super.allow();
        }
    }

    /** Runs the rest of a dispatch. Only the end of the outermost one is that of the application. */
    void run(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        expectEnd();
        boolean completed = false;
        // Before the application: a container may leave the type of its last FORWARD in the request.
        DispatcherType type = request.getDispatcherType();
        boolean isOutermost = type == DispatcherType.REQUEST || type == DispatcherType.ASYNC;
        depth = depth + 1;
        try {
            chain.doFilter(request, response);
            completed = true;
        } catch (IOException | ServletException | RuntimeException failed) {
            noteLeft(failed, response);
            throw failed;
        } finally {
            depth = depth - 1;
            // After a FORWARD that began outside of the filter, the application continues, and nobody tells when it
            // ends.
            end(completed && (isOutermost || request.isAsyncStarted()), request, response);
        }
    }

    /**
     * The end of a dispatch, unless it is inside of another one.
     *
     * @param mayRefund whether it is the end of an application that has completed
     */
    void end(boolean mayRefund, HttpServletRequest request, HttpServletResponse response) {
        if (depth > 0) {
            return;
        }
        if (!mayRefund) {
            keep();
        }
        if (awaited == null && request.isAsyncStarted()) {
            awaited = new Awaited(request, response);
            try {
                request.getAsyncContext().addListener(this);
                UnreportedEnd.watch(request, () -> awaited != null, () -> depth > 0, this::abort);
            } catch (IllegalStateException over) {
                // It has ended meanwhile, so no listener would be told.
                abort();
            }
        } else if (awaited == null) {
            settle(request, response);
        }
    }

    /** The end of a response that has begun: a connection that failed, rather than an application. */
    private void noteLeft(@Nullable Throwable failure, ServletResponse response) {
        Throwable cause = failure;
        // A framework may wrap it; bounded, because causes can be a circle.
        for (int i = 0; cause != null && i < MOST_CAUSES; i++) {
            if (cause instanceof IOException && response.isCommitted()) {
                leave();
            }
            cause = cause.getCause();
        }
    }

    /** A response may end well although its client has gone: a writer does not throw, and an application may catch. */
    private void probe(HttpServletResponse response) {
        try {
            if (mayBeLeft() && response.isCommitted()) {
                response.flushBuffer();
            }
        } catch (IOException | RuntimeException left) {
            noteLeft(left, response);
        }
    }

    private void settle(HttpServletRequest request, HttpServletResponse response) {
        probe(response);
        int status;
        try {
            status = response.getStatus();
            request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
        } catch (RuntimeException recycled) {
            // A container that is done with an exchange that failed may have taken one of them back.
            giveUp(null);
            return;
        }
        settle(status, response::getHeaders, request::getAttribute);
    }

    /** The exchange has ended. If no listener was told of that, the client has left. */
    private void abort() {
        if (awaited != null) {
            leave();
            keep();
            onComplete(null);
        }
    }

    @Override
    public void onComplete(@Nullable AsyncEvent event) {
        Awaited end = awaited;
        awaited = null;
        if (end != null) {
            settle(end.request, end.response);
        }
    }

    /** Also of a client that has stopped reading, so that it does not choose its cost. */
    @Override
    public void onTimeout(AsyncEvent event) {
        keep();
        if (awaited != null && awaited.response.isCommitted()) {
            leave();
        }
    }

    @Override
    public void onError(AsyncEvent event) {
        keep();
        if (awaited != null) {
            noteLeft(event.getThrowable(), awaited.response);
        }
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }

    /** Answers a denial. */
    @FunctionalInterface
    interface Answer {
        void write() throws IOException;
    }

    /** Answers the denial of the dispatch, and treats the dispatches of the answer as parts of it. */
    void reject(HttpServletRequest request, Answer answer) throws IOException {
        Answer outer = rejecting;
        boolean startedBefore = request.isAsyncStarted();
        rejecting = answer;
        try {
            answer.write();
        } finally {
            // Unless another dispatch has begun meanwhile.
            if (rejecting == answer) {
                rejecting = outer;
                answeredLater |= !startedBefore && request.isAsyncStarted();
            }
        }
    }

    /**
     * Whether a dispatch is a part of the answer to a denial. A handler may answer with a page that the denying rule matches too: by a
     * FORWARD, an asynchronous dispatch, or an error page. Any other dispatch is a new try of the request. Outside of the rejection
     * itself, one to the denied path is never a part: a handler may hold the request and dispatch it again later.
     */
    private boolean isAnswer(HttpServletRequest request, List<String> to) {
        DispatcherType type = request.getDispatcherType();
        if (type == DispatcherType.REQUEST) {
            return false;
        }
        if (rejecting != null && type == DispatcherType.FORWARD) {
            return true;
        }
        // The container sets the attribute when it dispatches to an error page, which may forward.
        return (answeredLater || request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) != null)
                && to.stream().noneMatch(this::isDenied);
    }

    private boolean isDenied(String path) {
        return Stream.concat(paths.stream(), pathsOfPart.stream())
                .anyMatch(denied -> plain(denied).equalsIgnoreCase(plain(path)));
    }

    /** Without slashes at the end. */
    private static String plain(String path) {
        int end = path.length();
        while (end > 0 && path.charAt(end - 1) == '/') {
            end--;
        }
        return path.substring(0, end);
    }
}
