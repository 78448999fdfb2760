package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Admission;
import io.limiter.http.internal.BeforeTheDoor;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder.Choice;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * One way of an exchange through a filter. Never blocks. What follows a decision that was not known at once runs on a thread of
 * Reactor, and not on one of the limiter, which an application could block.
 */
final class WebAdmission extends Admission {
    private final WebRejections rejections;
    private final ServerWebExchange exchange;
    private final WebFilterChain chain;
    private final WebLedger ledger;

    /**
     * The rules of a filter under one configuration, and what it answers by them.
     *
     * @param needsUser whether the user of an exchange may count
     * @param needsSession whether its session may
     * @param policies those of the rule that only this filter has; empty if it has none
     * @param findings what operators should know
     */
    record Rules(
            HttpRules http,
            WebRejections rejections,
            boolean needsUser,
            boolean needsSession,
            Collection<Policy> policies,
            List<String> findings)
            implements Door.Rules {
        /**
         * Those of a filter.
         *
         * @param all the configuration of the limiter
         * @param source where its own properties are written
         * @param own properties of a rule that only it has; empty for none
         * @param choice the rules, the handler and the objects that the application has chosen
         * @param basePath the path before all paths of the application; empty if there is none
         */
        static Rules of(
                Limiter limiter,
                LimiterConfig all,
                String source,
                Map<String, String> own,
                Choice<ServerWebExchange, WebRejectionHandler> choice,
                String basePath) {
            LimiterConfig config = own.isEmpty() ? all : all.with(source, own);
            NamedClasses classes = choice.classes();
            HttpRules http = choice.rules(limiter, config, rule -> true, classes);
            List<RuleDefinition> rules = http.configured();
            boolean needsUser = config.settings().callers().exempt().needUser()
                    || has(rules, KeyPart.Kind.USER)
                    || rules.stream()
                            .anyMatch(rule -> !rule.isBeforeAuthentication()
                                    || rule.charging().plans() != null);
            Stream<Policy> policies =
                    own.isEmpty() ? Stream.of() : rules.stream().flatMap(rule -> rule.policies().stream());
            List<String> findings = http.findings();
            if (!basePath.isEmpty()) {
                findings.addAll(BeforeTheDoor.prefixFindings(basePath, rules));
            }
            return new Rules(
                    http,
                    new WebRejections(config, choice.handler(), classes),
                    needsUser,
                    has(rules, KeyPart.Kind.SESSION),
                    policies.toList(),
                    findings);
        }

        private static boolean has(List<RuleDefinition> rules, KeyPart.Kind kind) {
            return rules.stream().flatMap(RuleDefinition::parts).anyMatch(part -> part.kind() == kind);
        }
    }

    WebAdmission(Rules rules, HeldPlaces places, WebRequest request, ServerWebExchange exchange, WebFilterChain chain) {
        super(rules.http, places, request, false, false);
        this.rejections = rules.rejections;
        this.exchange = exchange;
        this.chain = chain;
        this.ledger = WebLedger.of(request, rules.http.limiter());
    }

    @Override
    protected WebLedger ledger() {
        return ledger;
    }

    /** Runs the chain with an exchange that is admitted; answers or holds any other. */
    Mono<Void> filter() {
        CompletableFuture<Admission> answer = begin();
        return answer == null
                ? answered()
                : ExchangeAnswers.onReactor(answer).flatMap(same -> answered()).doOnCancel(this::giveUp);
    }

    private Mono<Void> answered() {
        try {
            return use() ? applied() : Mono.empty();
        } catch (Throwable failed) {
            // The application does not run, so this is the end.
            fail();
            throw failed;
        }
    }

    private Mono<Void> applied() {
        Decision decision = decision();
        if (isAdmitted()) {
            if (decision != null) {
                rejections.writeQuota(decision, exchange);
            }
            return run();
        }
        Throwable failure = failure();
        Mono<Void> written = failure != null
                ? Mono.error(failure)
                : decision == null ? rejections.refuse(refusal(), exchange) : rejections.write(decision, exchange);
        return written.doFinally(end -> release());
    }

    private Mono<Void> run() {
        return ledger.hasEnd() ? ledger.run(chain, exchange) : chain.filter(exchange);
    }
}
