package io.limiter.webflux;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.http.internal.DispatchCharges;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.LaterDecision;
import io.limiter.http.internal.RuleRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * One way of an exchange through a filter: what it is charged, and whether it is admitted, answered or held. Never blocks. What
 * follows a decision that was not known at once runs on a thread of Reactor, and not on one of the limiter, which an application
 * could block.
 */
final class WebAdmission implements HeldPlaces.Refusable {
    private static final int UNAVAILABLE = 503;

    private final Rules rules;
    private final HttpRules http;
    private final HeldPlaces places;
    private final ServerWebExchange exchange;
    private final WebFilterChain chain;
    private final RuleRequest asked;
    private final WebLedger ledger;
    private final DispatchCharges charges;
    private final LaterDecision later;
    /** Whether the decision was used, or given up. */
    private final AtomicBoolean isOver = new AtomicBoolean();

    private volatile boolean isRefused;
    /** The client whose place it has while it is held; null if it was never held. */
    private @Nullable String held;

    /** The rules of a filter under one configuration, and what it answers by them. */
    record Rules(HttpRules http, WebRejections rejections) {}

    WebAdmission(Rules rules, HeldPlaces places, WebRequest request, ServerWebExchange exchange, WebFilterChain chain) {
        this.rules = rules;
        this.http = rules.http;
        this.places = places;
        this.exchange = exchange;
        this.chain = chain;
        this.asked = http.read(request);
        this.ledger = WebLedger.of(request, http.limiter());
        this.charges = http.noCharges();
        this.later = new LaterDecision(http, charges, ledger);
    }

    /** What happened to a decision. */
    private record Answer(
            @Nullable Decision decision, @Nullable Throwable failure) {}

    /** Runs the chain with an exchange that is admitted; answers or holds any other. */
    Mono<Void> filter() {
        if (http.tryDeny(asked)) {
            keep();
            return WebRejections.refuse(http.config().settings().callers().deniedStatus(), exchange);
        }
        synchronized (ledger) {
            try {
                http.charge(asked, charges);
            } finally {
                // What was counted before one fails stays open.
                if (!charges.isEmpty()) {
                    ledger.begin();
                    charges.record(ledger);
                }
            }
        }
        if (charges.isEmpty()) {
            return run();
        }
        boolean mayWait = charges.isPending() || charges.mayWait(charges.enforced());
        String client = mayWait ? asked.network() : null;
        if (client == null || !places.tryEnter(client)) {
            later.start(false);
        } else {
            later.start(true);
            if (later.answer().isDone()) {
                places.leave(client);
            } else {
                held = client;
                places.hold(this);
            }
        }
        return onReactor(later.answer().handle(Answer::new))
                .flatMap(this::answered)
                .doOnCancel(this::giveUp);
    }

    /** What completes it never runs what follows. */
    static <T> Mono<T> onReactor(CompletableFuture<T> known) {
        Mono<T> answer = Mono.fromFuture(known, true);
        return known.isDone() ? answer : answer.publishOn(Schedulers.parallel());
    }

    private Mono<Void> answered(Answer answer) {
        if (!isOver.compareAndSet(false, true)) {
            return Mono.empty();
        }
        try {
            return applied(answer);
        } catch (Throwable failed) {
            // The application does not run, so this is the end.
            release();
            giveUp(answer.decision);
            throw failed;
        }
    }

    private Mono<Void> applied(Answer answer) {
        if (answer.failure != null) {
            return (isRefused ? WebRejections.refuse(UNAVAILABLE, exchange) : Mono.<Void>error(answer.failure))
                    .doFinally(end -> release());
        }
        Decision decision = answer.decision;
        if (decision != null) {
            exchange.getAttributes().put(HttpRules.DECISION, decision);
            if (!decision.allowed()) {
                keep();
                return rules.rejections.write(decision, exchange).doFinally(end -> release());
            }
            rules.rejections.writeQuota(decision, exchange);
        }
        release();
        List<Charge> shadowed = later.shadowed();
        synchronized (ledger) {
            ledger.note(decision);
            ledger.allow();
            if (!shadowed.isEmpty()) {
                ledger.note(http.countShadows(shadowed));
            }
        }
        return run();
    }

    private Mono<Void> run() {
        boolean hasEnd;
        synchronized (ledger) {
            hasEnd = ledger.hasEnd();
        }
        return hasEnd ? ledger.run(chain, exchange) : chain.filter(exchange);
    }

    private void keep() {
        synchronized (ledger) {
            ledger.keep();
        }
    }

    private void release() {
        if (held != null) {
            places.release(this, held);
        }
    }

    @Override
    public void refuse() {
        isRefused = true;
        later.answer().cancel(false);
    }

    /** The client has gone: before the decision it takes nothing; after it, it keeps what it took. */
    private void giveUp() {
        if (!isOver.compareAndSet(false, true)) {
            return;
        }
        release();
        if (!later.answer().cancel(false)) {
            later.answer().thenAccept(this::giveUp);
        }
    }

    private void giveUp(@Nullable Decision late) {
        synchronized (ledger) {
            ledger.giveUp(late);
        }
    }
}
