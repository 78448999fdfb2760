package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.Shares;
import io.limiter.internal.DiagnosticLog;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The requests that a filter holds. Thread-safe. */
final class HeldRequests extends HeldPlaces {
    private static final Logger LOG = DiagnosticLog.of(HeldRequests.class);

    /** How many threads wait for lookups at once where requests can't be held. */
    private static final int MOST_THREADS = 64;

    /** Longer than the longest wait, after which there is an answer. */
    private static final long TIMEOUT_MILLIS = 120_000;

    private final Shares threads = new Shares(MOST_THREADS, 10);
    /** As in {@link ServletLedger}, for the same reason. */
    private final String attribute = HeldRequests.class.getName() + "." + UUID.randomUUID();

    private final AtomicBoolean asyncLogged = new AtomicBoolean();

    HeldRequests(int most) {
        super(most);
    }

    /** Takes a place for the first dispatch of a request of a client, if it can wait without a thread. */
    boolean tryEnter(HttpServletRequest request, String client) {
        boolean isFirst = request.getDispatcherType() == DispatcherType.REQUEST && !request.isAsyncStarted();
        if (isFirst && !request.isAsyncSupported() && asyncLogged.compareAndSet(false, true)) {
            LOG.warn(
                    "RL-319 a rule with wait can't hold requests, because a filter does not support asynchronous requests; they"
                            + " are denied at once; add <async-supported>true</async-supported> to the limiter's filter and those"
                            + " before it. Logged once");
        }
        return isFirst && request.isAsyncSupported() && tryEnter(client);
    }

    /** Waits for lookups on this thread; not at all if too many threads do, because a client could occupy all of them. */
    void await(CompletableFuture<?> lookups, String client) {
        if (!lookups.isDone() && threads.tryTake(client)) {
            try {
                lookups.join();
            } finally {
                threads.free(client);
            }
        }
    }

    /** The request that was held here and admitted, when it is dispatched again; else null. */
    @Nullable
    Held takeAdmitted(HttpServletRequest request) {
        Held admitted = request.getAttribute(attribute) instanceof Held held ? held : null;
        if (admitted != null) {
            request.removeAttribute(attribute);
            admitted.isDispatched = true;
        }
        return admitted;
    }

    /** What waits for permits. */
    interface Waiting {
        /** Writes the response to a denied request. The decision is null if there is none. */
        void deny(@Nullable Decision decision) throws Exception;

        /** Gets the decision of a request that ended, and did not come back; null if nothing was due. */
        void end(@Nullable Decision decision);

        /** Gets a decision that came too late, because the request has ended; null if nothing was due. */
        void giveBack(@Nullable Decision decision);
    }

    /**
     * A request that waits for its permits, without a thread. Admitted, it is dispatched again; denied, it is answered by a
     * thread of the container. A denial is not dispatched, because a filter that is not mapped to ASYNC dispatches would not see
     * it, and the application would.
     */
    final class Held implements AsyncListener, Refusable {
        private final Waiting waiting;
        private final String client;
        private final CompletableFuture<@Nullable Decision> answer;

        /** The shadow charges that are counted when it is admitted. */
        final List<Charge> shadowed;

        /** Whether the server stops. */
        private volatile boolean isRefused;
        /** Whether its dispatch has begun. */
        private volatile boolean isDispatched;

        /**
         * A request.
         *
         * @param client whose place it has
         * @param answer the decision that it waits for; null if nothing is due
         */
        Held(Waiting waiting, String client, CompletableFuture<@Nullable Decision> answer, List<Charge> shadowed) {
            this.waiting = waiting;
            this.client = client;
            this.answer = answer;
            this.shadowed = shadowed;
        }

        /** Holds the request. The current thread must not use it afterwards. */
        void hold(HttpServletRequest request, HttpServletResponse response) {
            AsyncContext async;
            try {
                async = request.startAsync(request, response);
            } catch (RuntimeException ended) {
                // Its response is already closed. It must not take a permit later.
                leave(client);
                if (!answer.cancel(false)) {
                    answer.thenAccept(waiting::giveBack);
                }
                throw ended;
            }
            async.setTimeout(TIMEOUT_MILLIS);
            async.addListener(this);
            HeldRequests.this.hold(this);
            answer.whenComplete((decision, failure) -> {
                if (!answer.isCancelled() || isRefused) {
                    end(async, decision, failure == null && (decision == null || decision.allowed()));
                }
            });
        }

        @Override
        public void refuse() {
            isRefused = true;
            answer.cancel(false);
        }

        /** Returns its place, once. */
        private void remove() {
            release(this, client);
        }

        private void end(AsyncContext async, @Nullable Decision decision, boolean isAdmitted) {
            try {
                if (isAdmitted) {
                    async.getRequest().setAttribute(attribute, this);
                    async.dispatch();
                    remove();
                } else {
                    async.start(() -> deny(async, decision));
                }
            } catch (RejectedExecutionException busy) {
                deny(async, decision);
            } catch (RuntimeException ended) {
                LOG.debug("a request ended while it waited", ended);
                remove();
                waiting.giveBack(decision);
            }
        }

        private void deny(AsyncContext async, @Nullable Decision decision) {
            try {
                waiting.deny(decision);
                if (isRefused) {
                    // Tomcat writes what is left only after onComplete, and by then the server may have closed the
                    // connection.
                    async.getResponse().flushBuffer();
                }
            } catch (Exception failed) {
                LOG.debug("a denial could not be written", failed);
            }
            try {
                async.complete();
            } catch (IllegalStateException ended) {
                LOG.debug("the handler or the container has ended the request", ended);
                remove();
            }
        }

        /** Null if nothing was due. */
        @Nullable
        Decision decision() {
            return answer.join();
        }

        @Override
        public void onComplete(AsyncEvent event) {
            if (!answer.cancel(false) && !isDispatched && !answer.isCompletedExceptionally()) {
                // Its connection failed before the dispatch, or that did not reach the filter.
                waiting.end(answer.join());
            }
            remove();
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
    }

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
