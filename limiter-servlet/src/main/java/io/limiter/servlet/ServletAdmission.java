package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.TimeSource;
import io.limiter.http.internal.Admission;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import io.limiter.internal.Throttle;
import io.limiter.servlet.internal.ServletHttpRequest;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One dispatch of a request through a filter. One that is held waits without a thread. Admitted, it is dispatched again; denied, it is
 * answered by a thread of the container. A denial is not dispatched, because a filter that is not mapped to ASYNC dispatches would not
 * see it, and the application would. Thread-safe.
 */
final class ServletAdmission extends Admission implements AsyncListener {
    private static final Logger LOG = LoggerFactory.getLogger(ServletAdmission.class);
    private static final Throttle FAILURES = Throttle.hourly(TimeSource.system()::nowMicros);

    /** Longer than the longest wait, after which there is an answer. */
    private static final long TIMEOUT_MILLIS = 120_000;

    /** Not a plain name: an application to which a request is forwarded has this class from another class loader. */
    private static final String ADMITTED = ServletAdmission.class.getName() + "." + UUID.randomUUID();

    private final Rules rules;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    /** That of the request, once it is needed. */
    private @Nullable ServletLedger ledger;
    /** Whether it was dispatched again, or has ended. */
    private volatile boolean isReported;

    /** The rules of a filter under one configuration, and what it answers by them. */
    record Rules(HttpRules http, Rejections rejections) implements Door.Rules {
        @Override
        public List<String> findings() {
            List<String> all = http.findings();
            if (!http.waiting().isEmpty()) {
                all.add("RL-326 rules " + http.waiting()
                        + " let requests wait, which then reach the application by an ASYNC dispatch: filters"
                        + " after the limiter's that are not mapped to ASYNC do not run for them; map them,"
                        + " above all those that authenticate");
            }
            return all;
        }
    }

    private ServletAdmission(Rules rules, HeldPlaces places, HttpServletRequest request, HttpServletResponse response) {
        super(rules.http, places, new ServletHttpRequest(request), true, isFirst(request));
        this.rules = rules;
        this.request = request;
        this.response = response;
    }

    /**
     * Runs the chain with a request that is admitted; answers or holds any other.
     *
     * @param places of all the requests that the filter holds
     */
    static void filter(
            Rules rules, HeldPlaces places, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        rules.http.noteRequest();
        ServletAdmission held = request.getDispatcherType() == DispatcherType.ASYNC ? takeHeld(places, request) : null;
        if (held == null) {
            proceed(rules, places, request, response, chain);
            return;
        }
        // It may be held once more, and is then recognized by its dispatch.
        FirstDispatch current = new FirstDispatch(request);
        // The end of this dispatch is that of what it has waited for, whatever the rules in force do.
        FilterChain rest = (same, answer) -> {
            if (held.apply(request, response)) {
                proceed(rules, places, current, response, chain);
            }
        };
        try {
            held.ledger().run(rest, request, response);
        } finally {
            current.isOver = true;
        }
    }

    /** The request that this filter held and admitted, when it is dispatched again; null for any other. */
    private static @Nullable ServletAdmission takeHeld(HeldPlaces places, HttpServletRequest request) {
        if (request.getAttribute(ADMITTED) instanceof ServletAdmission held && held.places == places) {
            request.removeAttribute(ADMITTED);
            held.isReported = true;
            return held;
        }
        return null;
    }

    private static void proceed(
            Rules rules, HeldPlaces places, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request.getDispatcherType() == DispatcherType.ERROR) {
            chain.doFilter(request, response);
            return;
        }
        ServletAdmission admission = rules.http.isIdle() || isIncluded(request)
                ? null
                : new ServletAdmission(rules, places, request, response);
        if (admission != null && !admission.tryAdmit()) {
            return;
        }
        ServletLedger known = admission == null ? null : admission.ledger;
        if (rules.http.hasEnd() || (known != null && known.hasEnd())) {
            ServletLedger ledger =
                    known != null ? known : ServletLedger.of(new ServletHttpRequest(request), rules.http.limiter());
            ledger.run(chain, request, response);
        } else {
            chain.doFilter(request, response);
        }
    }

    /**
     * Whether a request is dispatched for a part of a page, by an INCLUDE or by a FORWARD inside one: its answer lands inside the
     * page. Checks the requests that the container has nested, down to the dispatch that was not a FORWARD.
     * The attribute {@code jakarta.servlet.include.request_uri} is no evidence: Tomcat hides it from the FORWARD, and an
     * application may set it for a real one. A client can set neither. A container that does not wrap has no such
     * exemption, so the FORWARD is charged there.
     */
    private static boolean isIncluded(ServletRequest request) {
        ServletRequest current = request;
        while (current.getDispatcherType() == DispatcherType.FORWARD
                && current instanceof ServletRequestWrapper outer) {
            current = outer.getRequest();
        }
        return current.getDispatcherType() == DispatcherType.INCLUDE;
    }

    @Override
    protected ServletLedger ledger() {
        if (ledger == null) {
            ledger = ServletLedger.of(dispatch(), rules.http.limiter());
        }
        return ledger;
    }

    private static boolean isFirst(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.REQUEST && !request.isAsyncStarted();
    }

    /** Only its first dispatch, and if all filters before this one agree. */
    @Override
    protected boolean canBeHeld() {
        boolean isFirst = isFirst(request);
        if (isFirst && !request.isAsyncSupported() && places.tryNote()) {
            LOG.warn("RL-319 a rule with wait can't hold requests, because a filter does not support asynchronous"
                    + " requests; they are denied at once; add <async-supported>true</async-supported> to the"
                    + " limiter's filter and those before it. Logged once");
        }
        return isFirst && request.isAsyncSupported();
    }

    /** Decides whether it may go on now. Otherwise it was answered or is held. */
    private boolean tryAdmit() throws IOException {
        try {
            CompletableFuture<Admission> answer = begin();
            if (answer == null) {
                return apply(request, response);
            }
            hold(answer);
            return false;
        } catch (Throwable failed) {
            if (ledger != null) {
                // The application does not run, so this is the end.
                ledger.end(false, request, response);
            }
            throw failed;
        }
    }

    /** Writes the answer, or the quota of an admission. False if the application does not get the request. */
    private boolean apply(HttpServletRequest current, HttpServletResponse answer) throws IOException {
        if (!use()) {
            return false;
        }
        Decision decision = decision();
        if (isAdmitted()) {
            if (decision != null) {
                rules.rejections.writeQuota(decision, current, answer);
            }
            return true;
        }
        if (decision == null) {
            // Also where there is no answer: the status is 503 then. A container that ends the wait cancels it.
            Throwable failure = failure();
            if (failure != null && !(failure instanceof CancellationException) && FAILURES.tryPass()) {
                LOG.warn("RL-320 a request that waited got no decision, but 503. Logged once an hour", failure);
            }
            rules.rejections.refuse(refusal(), current, answer);
        } else {
            ledger().reject(current, () -> rules.rejections.write(decision, current, answer));
        }
        return false;
    }

    /** Holds the request. The current thread must not use it afterwards. */
    private void hold(CompletableFuture<Admission> answer) {
        AsyncContext async;
        try {
            async = request.startAsync(request, response);
        } catch (RuntimeException ended) {
            // Its response is already closed. It must not take a permit later.
            giveUp();
            throw ended;
        }
        async.setTimeout(TIMEOUT_MILLIS);
        async.addListener(this);
        // False: a dispatch that reaches this filter sets isReported, so that its end is not awaited any more.
        UnreportedEnd.watch(request, () -> !isReported, () -> false, this::end);
        answer.thenRun(() -> resume(async));
    }

    private void resume(AsyncContext async) {
        try {
            if (isAllowed()) {
                async.getRequest().setAttribute(ADMITTED, this);
                async.dispatch();
                release();
            } else {
                startDenial(async);
            }
        } catch (RuntimeException ended) {
            LOG.debug("a request ended while it waited", ended);
            giveBack();
        }
    }

    private void startDenial(AsyncContext async) {
        try {
            async.start(() -> deny(async));
        } catch (RejectedExecutionException busy) {
            deny(async);
        }
    }

    private void deny(AsyncContext async) {
        try {
            apply(request, response);
            if (isRefused()) {
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
            release();
        }
    }

    /** If it was not used, its connection failed before the dispatch, or that did not reach the filter. */
    private void end() {
        isReported = true;
        giveUp();
    }

    @Override
    public void onComplete(AsyncEvent event) {
        end();
    }

    /** Tomcat does this to the requests of an application that stops, Jetty fails them; both would answer with 500. */
    @Override
    public void onTimeout(AsyncEvent event) {
        if (tryCancel()) {
            deny(event.getAsyncContext());
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
    private static final class FirstDispatch extends HttpServletRequestWrapper {
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
    }
}
