package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.RuleRequest;
import io.limiter.internal.DiagnosticLog;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The rules of a filter under one configuration, and what it answers by them. Thread-safe. */
final class FilterRules {
    private static final Logger LOG = DiagnosticLog.of(FilterRules.class);

    final HttpRules http;
    final Rejections rejections;
    private final AtomicBoolean asyncLogged = new AtomicBoolean();

    FilterRules(HttpRules http, Rejections rejections) {
        this.http = http;
        this.rejections = rejections;
    }

    /** Whether it is the first dispatch of a request that can wait without a thread. */
    boolean canHold(HttpServletRequest request) {
        boolean isFirst = request.getDispatcherType() == DispatcherType.REQUEST && !request.isAsyncStarted();
        if (isFirst && !request.isAsyncSupported() && asyncLogged.compareAndSet(false, true)) {
            LOG.warn(
                    "RL-319 a rule with wait can't hold requests, because a filter does not support asynchronous requests; they"
                            + " are denied at once; add <async-supported>true</async-supported> to the limiter's filter and those"
                            + " before it. Logged once");
        }
        return isFirst && request.isAsyncSupported();
    }

    /**
     * Applies a decision: records and counts an admission, or answers a denial. Returns whether it is an admission.
     *
     * @param decision null if nothing was due
     */
    boolean apply(
            @Nullable Decision decision,
            ServletLedger ledger,
            List<Charge> shadows,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        if (decision != null) {
            request.setAttribute(RateLimitFilter.DECISION, decision);
            if (!decision.allowed()) {
                ledger.keep();
                ledger.denial().reject(request, () -> rejections.write(decision, request, response));
                return false;
            }
            rejections.writeQuota(decision, request, response);
            ledger.note(decision);
        }
        ledger.allow();
        http.countShadows(shadows);
        return true;
    }

    /** Answers a request whose caller is denied before anything is counted. Returns whether it is one. */
    boolean refuseDenied(RuleRequest asked, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (!http.denies(asked)) {
            return false;
        }
        http.countDenied(asked);
        ServletLedger.of(request, http.limiter()).keep();
        rejections.refuse(http.settings().callers().deniedStatus(), request, response);
        return true;
    }

    /** Runs the rest of a dispatch that was admitted. */
    void proceed(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        try {
            if (http.mayRefund() && request.getDispatcherType() != DispatcherType.ERROR) {
                ServletLedger.of(request, http.limiter()).run(chain, request, response);
            } else {
                chain.doFilter(request, response);
            }
        } finally {
            if (request instanceof HeldRequests.FirstDispatch first) {
                first.end();
            }
        }
    }
}
