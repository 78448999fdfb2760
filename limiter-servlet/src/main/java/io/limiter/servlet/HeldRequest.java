package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A request that waits for its permits, without a thread. Admitted, it is dispatched again; denied, it is answered by a
 * thread of the container. A denial is not dispatched, because a filter that is not mapped to ASYNC dispatches would not see
 * it, and the application would.
 */
final class HeldRequest implements AsyncListener, HeldRequests.Held {
    private static final Logger LOG = DiagnosticLog.of(HeldRequest.class);
    /** As in {@link RequestCharges}, for the same reason. */
    private static final String ATTRIBUTE = HeldRequest.class.getName() + "." + UUID.randomUUID();
    /** Longer than the longest wait, after which there is an answer. */
    private static final long TIMEOUT_MILLIS = 120_000;

    private final HeldRequests all;
    private final String client;
    private final CompletableFuture<@Nullable Decision> answer;
    private final Consumer<Decision> unused;
    private final Denial denial;
    /** The shadow charges that are counted when it is admitted. */
    final List<Charge> shadowed = new ArrayList<>(0);
    /** Whether the server stops. */
    private volatile boolean isRefused;

    /**
     * A request.
     *
     * @param all the held requests of the filter, where it has a place
     * @param client whose place that is
     * @param answer the decision that it waits for; null if nothing is due
     * @param unused gets an admission that came too late, because the request has ended
     */
    HeldRequest(
            HeldRequests all,
            String client,
            CompletableFuture<@Nullable Decision> answer,
            Consumer<Decision> unused,
            Denial denial) {
        this.all = all;
        this.client = client;
        this.answer = answer;
        this.unused = unused;
        this.denial = denial;
    }

    /** Answers a denied request. */
    @FunctionalInterface
    interface Denial {
        /** Writes the response. The decision is null if there is none. */
        void write(@Nullable Decision decision) throws Exception;
    }

    /** Holds the request. The current thread must not use it afterwards. */
    void hold(HttpServletRequest request, HttpServletResponse response) {
        AsyncContext async;
        try {
            async = request.startAsync(request, response);
        } catch (RuntimeException ended) {
            // Its response is already closed. It must not take a permit later.
            all.leave(client);
            if (!answer.cancel(false)) {
                answer.thenAccept(this::giveBack);
            }
            throw ended;
        }
        async.setTimeout(TIMEOUT_MILLIS);
        async.addListener(this);
        all.add(this);
        answer.whenComplete((decision, failure) -> {
            if (!answer.isCancelled() || isRefused) {
                end(async, decision, failure == null && (decision == null || decision.allowed()));
            }
        });
    }

    private void giveBack(@Nullable Decision decision) {
        if (decision != null && decision.allowed()) {
            unused.accept(decision);
        }
    }

    @Override
    public void refuse() {
        isRefused = true;
        answer.cancel(false);
    }

    private void end(AsyncContext async, @Nullable Decision decision, boolean isAdmitted) {
        try {
            if (isAdmitted) {
                async.getRequest().setAttribute(ATTRIBUTE, this);
                async.dispatch();
                all.remove(this, client);
            } else {
                async.start(() -> deny(async, decision));
            }
        } catch (RejectedExecutionException busy) {
            deny(async, decision);
        } catch (RuntimeException ended) {
            LOG.debug("a request ended while it waited", ended);
            all.remove(this, client);
            giveBack(decision);
        }
    }

    private void deny(AsyncContext async, @Nullable Decision decision) {
        try {
            denial.write(decision);
        } catch (Exception failed) {
            LOG.debug("a denial could not be written", failed);
        }
        try {
            async.complete();
        } catch (IllegalStateException ended) {
            LOG.debug("the handler or the container has ended the request", ended);
            all.remove(this, client);
        }
    }

    /** The request that this filter has held and admitted, when it is dispatched again; else null. */
    static @Nullable HeldRequest admitted(HttpServletRequest request, HeldRequests all) {
        if (request.getDispatcherType() == DispatcherType.ASYNC
                && request.getAttribute(ATTRIBUTE) instanceof HeldRequest held
                && held.all == all) {
            request.removeAttribute(ATTRIBUTE);
            return held;
        }
        return null;
    }

    /** Null if nothing was due. */
    @Nullable
    Decision decision() {
        return answer.join();
    }

    @Override
    public void onComplete(AsyncEvent event) {
        answer.cancel(false);
        all.remove(this, client);
    }

    /** Tomcat does this to the requests of an application that stops, Jetty fails them; both would answer with 500. */
    @Override
    public void onTimeout(AsyncEvent event) {
        if (!isRefused && answer.cancel(false)) {
            deny(event.getAsyncContext(), null);
        }
    }

    @Override
    public void onError(AsyncEvent event) {
        onTimeout(event);
    }

    @Override
    public void onStartAsync(AsyncEvent event) {}

    /**
     * An admitted request as the filters and servlets after this filter see it: like its first dispatch, which did not
     * get beyond this filter. Many of them ignore ASYNC dispatches, including authentication filters.
     */
    static final class FirstDispatch extends HttpServletRequestWrapper {
        private volatile boolean isOver;

        FirstDispatch(HttpServletRequest request) {
            super(request);
        }

        @Override
        public DispatcherType getDispatcherType() {
            // Not if the application forwards or includes: a container may wrap its own request with this one.
            DispatcherType now = super.getDispatcherType();
            return now == DispatcherType.ASYNC && !isOver ? DispatcherType.REQUEST : now;
        }

        void end() {
            isOver = true;
        }
    }
}
