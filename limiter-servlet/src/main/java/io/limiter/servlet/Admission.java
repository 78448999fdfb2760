package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One dispatch of a request: what it is charged, and whether it is admitted, answered or held. Used by one thread at a
 * time.
 */
final class Admission {
    private final RulesInForce rules;
    private final RateLimiter limiter;
    private final HeldRequests held;
    private final Dispatch dispatch;
    private final HttpServletRequest request;
    private final HttpServletResponse response;

    private Admission(
            RulesInForce rules,
            HeldRequests held,
            Dispatch dispatch,
            HttpServletRequest request,
            HttpServletResponse response) {
        this.rules = rules;
        this.limiter = rules.limiter;
        this.held = held;
        this.dispatch = dispatch;
        this.request = request;
        this.response = response;
    }

    /**
     * Decides, and writes the fields or the answer.
     *
     * @param all the requests that the filter holds
     * @return the request to continue with; null if it was answered or is held
     */
    static @Nullable HttpServletRequest admit(
            RulesInForce rules, HeldRequests all, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        HeldRequest held = HeldRequest.admitted(request, all);
        HttpServletRequest current = held == null ? request : new HeldRequest.FirstDispatch(request);
        if (held != null) {
            RequestCharges charged = RequestCharges.of(request, rules.limiter);
            rules.settle(held.decision(), charged, held.shadowed, request, response);
        }
        if (isAdmitted(rules, all, current, response)) {
            return current;
        }
        if (current instanceof HeldRequest.FirstDispatch again) {
            // It may be held once more, and is then recognized by its dispatch.
            again.end();
        }
        return null;
    }

    private static boolean isAdmitted(
            RulesInForce rules, HeldRequests all, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (rules.isIdle() || request.getDispatcherType() == DispatcherType.ERROR || Dispatch.isIncluded(request)) {
            return true;
        }
        Dispatch dispatch = rules.dispatch(request, new PlanCharges());
        return !rules.deny(dispatch, response) && new Admission(rules, all, dispatch, request, response).isGranted();
    }

    /** Whether it may go on now. Otherwise it was answered or is held. */
    boolean isGranted() throws IOException {
        List<Charge> charges = rules.enforced.charges(dispatch);
        List<Charge> shadowed = rules.shadows.size() == 0 ? List.of() : rules.shadows.charges(dispatch);
        RequestCharges charged = dispatch.charges();
        if (charged == null) {
            return true;
        }
        PlanCharges planned = dispatch.planned();
        if (planned == null || planned.isEmpty()) {
            return isGranted(charged, charges, shadowed);
        }
        Decision denial = denialOf(charged.due(charges));
        if (denial != null) {
            return rules.settle(denial, charged, List.of(), request, response);
        }
        CompletableFuture<?> lookups = planned.lookUp();
        if (!lookups.isDone()
                && rules.config.plans().async()
                && rules.canHold(request)
                && held.tryEnter(dispatch.network())) {
            CompletableFuture<@Nullable Decision> answer = new CompletableFuture<>();
            HeldRequest waiting = hold(charged, answer, List.of());
            lookups.whenComplete((found, never) -> ask(waiting, charged, answer, charges, shadowed, planned));
            return false;
        }
        held.await(lookups, dispatch.network());
        return isGranted(
                charged,
                planned.with(charges, false, (rule, charge) -> charge.get()),
                planned.with(shadowed, true, rules::tried));
    }

    /**
     * The denial by rules whose policies are known, so that a client that is denied anyway uses up no lookups. Null if
     * they allow it, or let it wait.
     */
    private @Nullable Decision denialOf(List<Charge> due) {
        if (due.isEmpty()) {
            return null;
        }
        if (dispatch.mayWait(due)) {
            Decision seen = limiter.peek(due);
            if (seen.allowed() || dispatch.mayWaitFor(seen)) {
                return null;
            }
        }
        Decision checked = limiter.check(due);
        return checked.allowed() ? null : checked;
    }

    private boolean isGranted(RequestCharges charged, List<Charge> charges, List<Charge> shadowed) throws IOException {
        List<Charge> due = charged.addCharges(charges);
        List<Charge> counted = charged.addShadows(shadowed);
        if (due.isEmpty()) {
            return rules.settle(null, charged, counted, request, response);
        }
        rules.warnOfTwoFilters(charged.chargedByAnother(due));
        if (!dispatch.mayWait(due)) {
            return rules.settle(limiter.tryAcquire(due), charged, counted, request, response);
        }
        boolean canHold = rules.canHold(request) && held.tryEnter(dispatch.network());
        boolean isHeld = false;
        CompletableFuture<Decision> answer;
        try {
            answer = limiter.tryAcquireOrWait(due, charge -> canHold ? dispatch.maxWait(charge) : Duration.ZERO);
            isHeld = !answer.isDone();
        } finally {
            if (canHold && !isHeld) {
                held.leave(dispatch.network());
            }
        }
        if (!isHeld) {
            return rules.settle(answer.join(), charged, counted, request, response);
        }
        hold(charged, answer, counted);
        return false;
    }

    private HeldRequest hold(
            RequestCharges charged, CompletableFuture<@Nullable Decision> answer, List<Charge> counted) {
        HeldRequest waiting = new HeldRequest(
                held,
                dispatch.network(),
                answer,
                unused -> limiter.refundAsync(List.of(unused), charge -> true),
                denial -> {
                    if (denial == null) {
                        rules.rejections.refuse(HttpServletResponse.SC_SERVICE_UNAVAILABLE, request, response);
                    } else {
                        rules.settle(denial, charged, List.of(), request, response);
                    }
                });
        waiting.shadowed.addAll(counted);
        waiting.hold(request, response);
        return waiting;
    }

    /** Asks for a held request whose plans were looked up. On the thread that found them, so it must not block. */
    private void ask(
            HeldRequest waiting,
            RequestCharges charged,
            CompletableFuture<@Nullable Decision> answer,
            List<Charge> charges,
            List<Charge> shadowed,
            PlanCharges planned) {
        if (answer.isDone()) {
            return;
        }
        try {
            List<Charge> due = charged.addCharges(planned.with(charges, false, (rule, charge) -> charge.get()));
            waiting.shadowed.addAll(charged.addShadows(planned.with(shadowed, true, rules::tried)));
            if (due.isEmpty()) {
                answer.complete(null);
                return;
            }
            CompletableFuture<Decision> asked = limiter.tryAcquireAsync(due, dispatch::maxWait);
            // A client that has gone leaves the queue.
            answer.whenComplete((decision, gone) -> asked.cancel(false));
            asked.whenComplete((decision, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else if (!answer.complete(decision) && decision.allowed()) {
                    limiter.refundAsync(List.of(decision), charge -> true);
                }
            });
        } catch (RuntimeException wrong) {
            answer.completeExceptionally(wrong);
        }
    }
}
