package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.http.internal.DispatchCharges;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.LaterDecision;
import io.limiter.http.internal.RuleRequest;
import io.limiter.servlet.HeldRequests.FirstDispatch;
import io.limiter.servlet.HeldRequests.Held;
import io.limiter.servlet.internal.ServletHttpRequest;
import io.limiter.servlet.rejection.Rejections;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One dispatch of a request: what it is charged, and whether it is admitted, answered or held. Used by one thread at a
 * time.
 */
final class Admission implements HeldRequests.Waiting {
    private final Rules rules;
    private final HttpRules http;
    private final HeldRequests held;
    private final RuleRequest asked;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    /** That of the request, once it is needed. */
    private @Nullable ServletLedger ledger;

    /** The rules of a filter under one configuration, and what it answers by them. */
    record Rules(HttpRules http, Rejections rejections) {
        /** What operators should know, as sentences for the log. */
        List<String> findings() {
            List<String> holding = http.holding();
            return holding.isEmpty()
                    ? http.findings()
                    : Stream.concat(
                                    http.findings().stream(),
                                    Stream.of(
                                            "RL-326 rules " + holding
                                                    + " hold requests (wait, or limiter.plan-lookup.async), which then reach the application by an ASYNC dispatch:"
                                                    + " filters after the limiter's that are not mapped to ASYNC do not run for them; map them, above all those that authenticate"))
                            .toList();
        }

        /**
         * Applies a decision: records and counts an admission, or answers a denial. Returns whether it is an admission.
         *
         * @param decision null if nothing was due
         */
        private boolean apply(
                @Nullable Decision decision,
                ServletLedger ledger,
                List<Charge> shadows,
                HttpServletRequest request,
                HttpServletResponse response)
                throws IOException {
            if (decision != null) {
                request.setAttribute(HttpRules.DECISION, decision);
                if (!decision.allowed()) {
                    ledger.keep();
                    ledger.denial().reject(request, () -> rejections.write(decision, request, response));
                    return false;
                }
                rejections.writeQuota(decision, request, response);
            }
            ledger.allow();
            if (!shadows.isEmpty()) {
                ledger.note(http.countShadows(shadows));
            }
            return true;
        }
    }

    private Admission(Rules rules, HeldRequests held, HttpServletRequest request, HttpServletResponse response) {
        this.rules = rules;
        this.http = rules.http;
        this.held = held;
        this.asked = http.read(new ServletHttpRequest(request));
        this.request = request;
        this.response = response;
    }

    /**
     * Runs the chain with a request that is admitted; answers or holds any other.
     *
     * @param all the requests that the filter holds
     */
    static void filter(
            Rules rules, HeldRequests all, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        rules.http.noteRequest();
        Held held = request.getDispatcherType() == DispatcherType.ASYNC ? all.takeAdmitted(request) : null;
        if (held == null) {
            proceed(rules, all, request, response, chain);
            return;
        }
        ServletLedger ledger = ServletLedger.of(new ServletHttpRequest(request), rules.http.limiter());
        // It may be held once more, and is then recognized by its dispatch.
        FirstDispatch current = new FirstDispatch(request);
        // The end of this dispatch is that of what it has waited for, whatever the rules in force do.
        FilterChain rest = (same, answer) -> {
            rules.apply(ledger.note(held.decision()), ledger, held.shadowed, request, response);
            proceed(rules, all, current, response, chain);
        };
        try {
            ledger.run(rest, request, response);
        } finally {
            current.end();
        }
    }

    private static void proceed(
            Rules rules, HeldRequests all, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request.getDispatcherType() == DispatcherType.ERROR) {
            chain.doFilter(request, response);
            return;
        }
        Admission admission =
                rules.http.isIdle() || isIncluded(request) ? null : new Admission(rules, all, request, response);
        if (admission != null && !admission.isAdmitted()) {
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

    private boolean isAdmitted() throws IOException {
        try {
            return decide();
        } catch (Throwable failed) {
            if (ledger != null) {
                // The application does not run, so this is the end.
                ledger.end(false, request, response);
            }
            throw failed;
        }
    }

    /** Decides whether it may go on now. Otherwise it was answered or is held. */
    private boolean decide() throws IOException {
        if (http.tryDeny(asked)) {
            ledger().keep();
            rules.rejections.refuse(http.config().settings().callers().deniedStatus(), request, response);
            return false;
        }
        DispatchCharges charges = http.noCharges();
        try {
            http.charge(asked, charges);
        } catch (Throwable failed) {
            // What was counted before stays open: a dispatch that fails counts as denied.
            if (!charges.isEmpty()) {
                begin(charges);
            }
            throw failed;
        }
        if (charges.isEmpty()) {
            return true;
        }
        ServletLedger ledger = begin(charges);
        if (!charges.isPending()) {
            return take(charges, ledger);
        }
        LaterDecision later = new LaterDecision(http, charges, ledger);
        Decision denial = later.denial(true).join();
        if (denial != null) {
            return rules.apply(denial, ledger, List.of(), request, response);
        }
        CompletableFuture<?> lookups = charges.lookUpPlans();
        boolean isHeld = !lookups.isDone()
                && http.config().settings().plans().async()
                && held.tryEnter(request, asked.network());
        if (!isHeld) {
            held.await(lookups, asked.network());
            charges.recordPending(ledger);
            return take(charges, ledger);
        }
        hold(later.answer(), later.shadowed());
        lookups.whenComplete((found, never) -> later.ask(true));
        return false;
    }

    private ServletLedger ledger() {
        if (ledger == null) {
            ledger = ServletLedger.of(asked.request(), http.limiter());
        }
        return ledger;
    }

    private ServletLedger begin(DispatchCharges charges) {
        ServletLedger ledger = ledger();
        ledger.begin(request, asked.paths());
        charges.record(ledger);
        return ledger;
    }

    /** Takes what is due, or waits for it. */
    private boolean take(DispatchCharges charges, ServletLedger ledger) throws IOException {
        List<Charge> due = ledger.addCharges(charges.enforced());
        List<Charge> counted = ledger.addShadows(charges.shadows());
        if (due.isEmpty()) {
            return rules.apply(null, ledger, counted, request, response);
        }
        http.warnOfTwoDoors(ledger.chargedByAnother(due));
        if (!charges.mayWait(due)) {
            return rules.apply(taken(due, charges, ledger), ledger, counted, request, response);
        }
        boolean canHold = held.tryEnter(request, asked.network());
        boolean isHeld = false;
        CompletableFuture<Decision> answer;
        try {
            answer = http.limiter()
                    .acquireAsync(PermitRequest.of(due)
                            .withMaxWait(charge -> canHold ? charges.maxWait(charge) : Duration.ZERO)
                            .withBlocking()
                            .withEnd());
            isHeld = !answer.isDone();
        } finally {
            if (canHold && !isHeld) {
                held.leave(asked.network());
            }
        }
        if (!isHeld) {
            return rules.apply(ledger.note(answer.join()), ledger, counted, request, response);
        }
        hold(answer, counted);
        return false;
    }

    private Decision taken(List<Charge> due, DispatchCharges charges, ServletLedger ledger) {
        Duration reserved = charges.reservedFor(due);
        if (reserved != null) {
            return ledger.note(http.limiter().reserve(due, reserved));
        }
        Charge first = due.get(0);
        Decision decision =
                due.size() == 1 && first.isPlain() && !first.policy().isInFlight()
                        ? http.limiter().tryAcquire(first.policy(), first.key(), first.permits())
                        : http.limiter().tryAcquire(PermitRequest.of(due).withEnd());
        ledger.note(decision);
        return decision;
    }

    private void hold(CompletableFuture<@Nullable Decision> answer, List<Charge> counted) {
        held.new Held(this, asked.network(), answer, counted).hold(request, response);
    }

    @Override
    public void deny(@Nullable Decision denial) throws IOException {
        if (denial == null) {
            rules.rejections.refuse(HttpServletResponse.SC_SERVICE_UNAVAILABLE, request, response);
        } else {
            rules.apply(denial, ledger(), List.of(), request, response);
        }
    }

    @Override
    public void end(@Nullable Decision decision) {
        ledger().giveUp(decision);
    }

    @Override
    public void giveBack(@Nullable Decision unused) {
        if (unused != null && unused.allowed()) {
            ledger().giveBack(unused);
        }
    }
}
