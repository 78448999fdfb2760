package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits that one request took, and which of them are refunded when the application has completed: at the end of
 * its first dispatch, or of its asynchronous work. A request that ends in another way (an exception, a timeout, a
 * broken connection) gets no refund, so that a client can't avoid being counted by ending a request early. Used by the
 * one thread that has the request.
 */
final class Settlement implements AsyncListener {
    private final RateLimiter limiter;
    private final BiConsumer<Object, Charge> forget;
    private final List<Term> terms = new ArrayList<>(2);
    private final List<Decision> taken = new ArrayList<>(1);

    /** How many calls of the filter chain have not returned. */
    private int depth;

    /** What settles it at the end of asynchronous work. */
    private @Nullable Runnable awaited;

    /**
     * The charge of a rule.
     *
     * @param outcomes which responses keep it
     */
    private record Term(Object rule, Charge charge, RuleOutcomes outcomes) {}

    /**
     * The settlement of a request.
     *
     * @param forget gets a rule and a charge that was refunded
     */
    Settlement(RateLimiter limiter, BiConsumer<Object, Charge> forget) {
        this.limiter = limiter;
        this.forget = forget;
    }

    /** Records the charge of a rule, even if another one has charged it before. */
    void note(Object rule, Charge charge, RuleOutcomes outcomes) {
        terms.add(new Term(rule, charge, outcomes));
    }

    /** Records granted permits. */
    void note(Decision allowed) {
        taken.add(allowed);
    }

    /** Keeps all permits taken so far, whatever the response: a denial is an answer of the limiter, not of the application. */
    void keep() {
        taken.clear();
    }

    /** Runs the rest of a dispatch. Only the end of the outermost one is that of the application. */
    void run(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
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
        List<Charge> back = new ArrayList<>(1);
        for (Decision decision : taken) {
            for (Charge charge : decision.charges()) {
                List<Term> asked = terms.stream()
                        .filter(term -> term.charge.isToSame(charge))
                        .toList();
                boolean isKept =
                        asked.isEmpty() || asked.stream().anyMatch(term -> term.outcomes.keeps(request, response));
                asked.forEach(term -> term.outcomes.note(isKept));
                if (!isKept) {
                    back.add(charge);
                    // A later dispatch, from a filter before this one, is charged again.
                    asked.forEach(term -> forget.accept(term.rule, charge));
                    terms.removeAll(asked);
                }
            }
        }
        if (!back.isEmpty()) {
            limiter.refundAsync(List.copyOf(taken), charge -> back.stream().anyMatch(one -> one.isToSame(charge)));
        }
        taken.clear();
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
