package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.http.internal.RequestLedger;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The ledger of a request that a container dispatches, which knows when the application has ended. */
final class ServletLedger extends RequestLedger implements AsyncListener {
    /** For the current dispatch. */
    private List<String> paths = List.of();

    private @Nullable DeniedDispatch denial;
    private boolean partOfAnswer;
    /** How many calls of the filter chain have not returned. */
    private int depth;
    /** What settles it at the end of asynchronous work. */
    private @Nullable Runnable awaited;

    private ServletLedger(RateLimiter owner, @Nullable RequestLedger earlier) {
        super(owner, earlier);
    }

    /** The ledger of the request for this owner. */
    static ServletLedger of(HttpServletRequest request, RateLimiter owner) {
        return of(
                new ServletHttpRequest(request),
                owner,
                ServletLedger.class,
                earlier -> new ServletLedger(owner, earlier));
    }

    /** Begins a dispatch. Only the answer to a denial is exempt from being a new try. */
    void begin(HttpServletRequest request, List<String> to) {
        partOfAnswer = isOpen() && denial().isAnsweredBy(request, to);
        if (partOfAnswer) {
            denial().beginPart(to);
            return;
        }
        forgetOpen();
        paths = to;
        denial = null;
    }

    /** Keeps the charges of the dispatch. */
    void allow() {
        if (partOfAnswer) {
            denial().allowPart();
        } else {
            keepOpen();
        }
    }

    /** The dispatch, if it is denied. */
    DeniedDispatch denial() {
        if (denial == null) {
            denial = new DeniedDispatch(paths);
        }
        return denial;
    }

    /** Runs the rest of a dispatch. Only the end of the outermost one is that of the application. */
    void run(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        expectEnd();
        boolean completed = false;
        // Before the application: a container may leave the type of its last FORWARD in the request.
        DispatcherType type = request.getDispatcherType();
        depth++;
        try {
            chain.doFilter(request, response);
            completed = true;
        } finally {
            depth--;
            if (depth == 0) {
                end(completed, type, request, response);
            }
        }
    }

    private void end(boolean completed, DispatcherType type, HttpServletRequest request, HttpServletResponse response) {
        if (!completed) {
            keep();
        } else if (awaited == null && request.isAsyncStarted()) {
            awaited = () -> settle(request, response);
            request.getAsyncContext().addListener(this);
        } else if (awaited == null && (type == DispatcherType.REQUEST || type == DispatcherType.ASYNC)) {
            // After a FORWARD that began outside of the filter, the application continues.
            settle(request, response);
        }
    }

    private void settle(HttpServletRequest request, HttpServletResponse response) {
        settle(new ServletHttpRequest(request), response.getStatus(), response::getHeaders);
    }

    @Override
    public void onComplete(AsyncEvent event) {
        Runnable end = awaited;
        awaited = null;
        if (end != null) {
            end.run();
        }
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        keep();
    }

    @Override
    public void onError(AsyncEvent event) {
        keep();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}
