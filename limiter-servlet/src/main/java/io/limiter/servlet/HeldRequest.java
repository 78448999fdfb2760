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
import java.util.List;
import java.util.Set;
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
final class HeldRequest implements AsyncListener {
    private static final Logger LOG = DiagnosticLog.of(HeldRequest.class);
    /** As in {@link RequestCharges}, for the same reason. */
    private static final String ATTRIBUTE = HeldRequest.class.getName() + "." + UUID.randomUUID();
    /** Longer than the longest wait, after which there is an answer. */
    private static final long TIMEOUT_MILLIS = 120_000;

    private final Set<HeldRequest> all;
    private final CompletableFuture<Decision> answer;
    private final Consumer<Decision> unused;
    final List<Charge> shadowed;
    /** Whether the filter is being destroyed. */
    private volatile boolean isRefused;

    /**
     * A request.
     *
     * @param all the held requests of the filter
     * @param answer the decision that it waits for
     * @param shadowed the shadow charges that are counted when it is admitted
     * @param unused gets an admission that came too late, because the request has ended
     */
    HeldRequest(
            Set<HeldRequest> all,
            CompletableFuture<Decision> answer,
            List<Charge> shadowed,
            Consumer<Decision> unused) {
        this.all = all;
        this.answer = answer;
        this.shadowed = shadowed;
        this.unused = unused;
    }

    /** Answers a denied request. */
    @FunctionalInterface
    interface Denial {
        /** Writes the response. The decision is null if there is none. */
        void write(@Nullable Decision decision) throws Exception;
    }

    /** Holds the request. The current thread must not use it afterwards. */
    void hold(HttpServletRequest request, HttpServletResponse response, Denial denial) {
        AsyncContext async;
        try {
            async = request.startAsync(request, response);
        } catch (RuntimeException ended) {
            // Its response is already closed. It must not take a permit later.
            if (!answer.cancel(false)) {
                answer.thenAccept(unused);
            }
            throw ended;
        }
        async.setTimeout(TIMEOUT_MILLIS);
        async.addListener(this);
        all.add(this);
        answer.whenComplete((decision, failure) -> {
            all.remove(this);
            if (!answer.isCancelled() || isRefused) {
                end(async, decision, denial);
            }
        });
    }

    /** Answers it, because the filter is being destroyed. */
    void refuse() {
        isRefused = true;
        answer.cancel(false);
    }

    private void end(AsyncContext async, @Nullable Decision decision, Denial denial) {
        try {
            if (decision != null && decision.allowed()) {
                async.getRequest().setAttribute(ATTRIBUTE, this);
                async.dispatch();
            } else {
                async.start(() -> deny(async, decision, denial));
            }
        } catch (RejectedExecutionException busy) {
            deny(async, decision, denial);
        } catch (RuntimeException ended) {
            LOG.debug("a request ended while it waited", ended);
            if (decision != null) {
                unused.accept(decision);
            }
        }
    }

    private static void deny(AsyncContext async, @Nullable Decision decision, Denial denial) {
        try {
            denial.write(decision);
        } catch (Exception failed) {
            LOG.debug("a denial could not be written", failed);
        }
        try {
            async.complete();
        } catch (IllegalStateException ended) {
            LOG.debug("the handler or the container has ended the request", ended);
        }
    }

    /** The request that this filter has held and admitted, when it is dispatched again; else null. */
    static @Nullable HeldRequest admitted(HttpServletRequest request, Set<HeldRequest> all) {
        if (request.getDispatcherType() == DispatcherType.ASYNC
                && request.getAttribute(ATTRIBUTE) instanceof HeldRequest held
                && held.all == all) {
            request.removeAttribute(ATTRIBUTE);
            return held;
        }
        return null;
    }

    Decision decision() {
        return answer.join();
    }

    @Override
    public void onComplete(AsyncEvent event) {
        answer.cancel(false);
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        answer.cancel(false);
    }

    @Override
    public void onError(AsyncEvent event) {
        answer.cancel(false);
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
