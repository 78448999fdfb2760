package io.limiter.webflux;

import io.limiter.http.internal.Admission;
import io.limiter.http.internal.Admission.Answer;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * One way of an exchange through a filter. Never blocks. What follows a decision that was not known at once runs on a thread of
 * Reactor, and not on one of the limiter, which an application could block.
 */
final class WebAdmission {
    private final WebRejections rejections;
    private final ServerWebExchange exchange;
    private final WebFilterChain chain;
    private final WebLedger ledger;
    private final Admission admission;

    /** The rules of a filter under one configuration, and what it answers by them. */
    record Rules(HttpRules http, WebRejections rejections) {}

    WebAdmission(Rules rules, HeldPlaces places, WebRequest request, ServerWebExchange exchange, WebFilterChain chain) {
        this.rejections = rules.rejections;
        this.exchange = exchange;
        this.chain = chain;
        this.ledger = WebLedger.of(request, rules.http.limiter());
        this.admission = new Admission(rules.http, places, request, ledger);
    }

    /** Runs the chain with an exchange that is admitted; answers or holds any other. */
    Mono<Void> filter() {
        CompletableFuture<Answer> begun = admission.begin();
        if (begun.getNow(null) == Admission.UNCOUNTED) {
            return run();
        }
        return onReactor(begun).flatMap(this::answered).doOnCancel(admission::giveUp);
    }

    /** What completes it never runs what follows. */
    static <T> Mono<T> onReactor(CompletableFuture<T> known) {
        Mono<T> answer = Mono.fromFuture(known, true);
        return known.isDone() ? answer : answer.publishOn(Schedulers.parallel());
    }

    private Mono<Void> answered(Answer answer) {
        try {
            Answer used = admission.use(answer);
            return used == null ? Mono.empty() : applied(used);
        } catch (Throwable failed) {
            // The application does not run, so this is the end.
            admission.fail(answer);
            throw failed;
        }
    }

    private Mono<Void> applied(Answer answer) {
        if (answer.isAdmitted()) {
            if (answer.decision() != null) {
                rejections.writeQuota(answer.decision(), exchange);
            }
            return run();
        }
        Mono<Void> written = answer.refused() > 0
                ? WebRejections.refuse(answer.refused(), exchange)
                : answer.failure() != null
                        ? Mono.error(answer.failure())
                        : rejections.write(Objects.requireNonNull(answer.decision()), exchange);
        return written.doFinally(end -> admission.release());
    }

    private Mono<Void> run() {
        boolean hasEnd;
        synchronized (ledger) {
            hasEnd = ledger.hasEnd();
        }
        return hasEnd ? ledger.run(chain, exchange) : chain.filter(exchange);
    }
}
