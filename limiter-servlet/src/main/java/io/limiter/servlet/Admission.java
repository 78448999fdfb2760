package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.servlet.HeldRequests.FirstDispatch;
import io.limiter.servlet.HeldRequests.Held;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One dispatch of a request: what it is charged, and whether it is admitted, answered or held. Used by one thread at a
 * time.
 */
final class Admission implements HeldRequests.Waiting {
    private final RulesInForce rules;
    private final RateLimiter limiter;
    private final HeldRequests held;
    private final Dispatch dispatch;
    private final HttpServletRequest request;
    private final HttpServletResponse response;

    private Admission(RulesInForce rules, HeldRequests held, HttpServletRequest request, HttpServletResponse response) {
        this.rules = rules;
        this.limiter = rules.limiter;
        this.held = held;
        this.dispatch = rules.dispatch(request, true);
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
        Held held = all.admitted(request);
        if (held == null) {
            return isAdmitted(rules, all, request, response) ? request : null;
        }
        RequestCharges charged = RequestCharges.of(request, rules.limiter);
        rules.settle(held.decision(), charged, held.shadowed, request, response);
        FirstDispatch current = new FirstDispatch(request);
        if (isAdmitted(rules, all, current, response)) {
            return current;
        }
        // It may be held once more, and is then recognized by its dispatch.
        current.end();
        return null;
    }

    private static boolean isAdmitted(
            RulesInForce rules, HeldRequests all, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (rules.isIdle() || request.getDispatcherType() == DispatcherType.ERROR || Dispatch.isIncluded(request)) {
            return true;
        }
        Admission admission = new Admission(rules, all, request, response);
        return !rules.deny(admission.dispatch, response) && admission.isGranted();
    }

    /** Whether it may go on now. Otherwise it was answered or is held. */
    private boolean isGranted() throws IOException {
        List<Charge> charges = rules.enforced.charges(dispatch);
        List<Charge> shadowed = rules.shadows.size() == 0 ? List.of() : rules.shadows.charges(dispatch);
        if (!dispatch.hasCharges()) {
            return true;
        }
        if (!dispatch.hasPlanned()) {
            return isGranted(charges, shadowed);
        }
        Decision denial = denialOf(dispatch.charges().due(charges));
        if (denial != null) {
            return settle(denial, List.of());
        }
        CompletableFuture<?> lookups = dispatch.lookUpPlans();
        boolean isHeld = !lookups.isDone()
                && rules.config.plans().async()
                && rules.canHold(request)
                && held.tryEnter(dispatch.network());
        if (!isHeld) {
            held.await(lookups, dispatch.network());
            return isGranted(dispatch.withPlanned(charges, false), dispatch.withPlanned(shadowed, true));
        }
        CompletableFuture<@Nullable Decision> answer = new CompletableFuture<>();
        List<Charge> counted = new ArrayList<>(0);
        hold(answer, counted);
        lookups.whenComplete((found, never) -> ask(answer, charges, shadowed, counted));
        return false;
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

    private boolean isGranted(List<Charge> charges, List<Charge> shadowed) throws IOException {
        RequestCharges charged = dispatch.charges();
        List<Charge> due = charged.addCharges(charges);
        List<Charge> counted = charged.addShadows(shadowed);
        if (due.isEmpty()) {
            return settle(null, counted);
        }
        rules.warnOfTwoFilters(charged.chargedByAnother(due));
        if (!dispatch.mayWait(due)) {
            return settle(limiter.tryAcquire(due), counted);
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
            return settle(answer.join(), counted);
        }
        hold(answer, counted);
        return false;
    }

    private boolean settle(@Nullable Decision decision, List<Charge> counted) throws IOException {
        return rules.settle(decision, dispatch.charges(), counted, request, response);
    }

    private void hold(CompletableFuture<@Nullable Decision> answer, List<Charge> counted) {
        held.new Held(this, dispatch.network(), answer, counted).hold(request, response);
    }

    @Override
    public void deny(@Nullable Decision denial) throws IOException {
        if (denial == null) {
            rules.rejections.refuse(HttpServletResponse.SC_SERVICE_UNAVAILABLE, request, response);
        } else {
            settle(denial, List.of());
        }
    }

    @Override
    public void giveBack(@Nullable Decision unused) {
        if (unused != null && unused.allowed()) {
            limiter.refundAsync(List.of(unused), charge -> true);
        }
    }

    /** Asks for a held request whose plans were looked up. On the thread that found them, so it must not block. */
    private void ask(
            CompletableFuture<@Nullable Decision> answer,
            List<Charge> charges,
            List<Charge> shadowed,
            List<Charge> counted) {
        if (answer.isDone()) {
            return;
        }
        try {
            RequestCharges charged = dispatch.charges();
            List<Charge> due = charged.addCharges(dispatch.withPlanned(charges, false));
            counted.addAll(charged.addShadows(dispatch.withPlanned(shadowed, true)));
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
                } else if (!answer.complete(decision)) {
                    giveBack(decision);
                }
            });
        } catch (RuntimeException wrong) {
            answer.completeExceptionally(wrong);
        }
    }
}
