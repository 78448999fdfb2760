package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import io.limiter.http.internal.answer.Refusals;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Writes decisions to responses of WebFlux. Thread-safe. */
final class WebRejections {
    private static final String ATTRIBUTE = LimitsInAnswer.class.getName();
    private static final WebRejectionHandler STANDARD = WebRejection::writeTo;

    private final QuotaFields quota;
    private final WebRejectionHandler handler;
    private final Refusals refusals = new Refusals();

    private WebRejections(LimiterConfig config, WebRejectionHandler handler) {
        this.quota = new QuotaFields(config.settings().http(), Clock.systemUTC());
        this.handler = handler;
    }

    /**
     * Rejections as configured.
     *
     * @param handler null for the configured one, or the standard answer
     * @throws IllegalArgumentException if the configured one can't be made
     */
    static WebRejections of(LimiterConfig config, @Nullable WebRejectionHandler handler, NamedClasses classes) {
        String name = config.settings().http().rejectionHandler();
        if (handler == null && name != null) {
            return new WebRejections(
                    config, classes.get("limiter.http.rejection-handler", name, WebRejectionHandler.class));
        }
        return new WebRejections(config, handler == null ? STANDARD : handler);
    }

    /** Writes the quota fields of a decision; false if the response is committed. */
    boolean writeQuota(Decision decision, ServerWebExchange exchange) {
        if (exchange.getResponse().isCommitted()) {
            refusals.logCommitted();
            return false;
        }
        quota.write(decision, limits(exchange), fields(exchange.getResponse().getHeaders()));
        return true;
    }

    /** Answers a denied request. */
    Mono<Void> write(Decision denial, ServerWebExchange exchange) {
        if (!writeQuota(denial, exchange)) {
            return Mono.empty();
        }
        ServerHttpResponse response = exchange.getResponse();
        WebRejection rejection = new WebRejection(denial, limits(exchange));
        Map<String, List<String>> before = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.getHeaders().forEach((name, lines) -> before.put(name, List.copyOf(lines)));
        if (rejection.retryAfterSeconds().isEmpty() && before.keySet().removeAll(quota.promises())) {
            // Fields of an earlier rule would be read as the time to try again.
            restore(before, response.getHeaders());
        }
        rejection.setHead(response);
        return Mono.defer(() -> handler.reject(rejection, exchange)).onErrorResume(failure -> {
            NamedClasses.rethrowFatal(failure);
            if (handler == STANDARD) {
                // The client has gone.
                return Mono.error(failure);
            }
            refusals.logFailed(handler, failure);
            if (response.isCommitted()) {
                return Mono.empty();
            }
            restore(before, response.getHeaders());
            rejection.setHead(response);
            return rejection.writeTo(exchange);
        });
    }

    /** Answers a caller that is always denied, or a request that was held when the server stopped. */
    static Mono<Void> refuse(int status, ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        if (response.isCommitted()) {
            return Mono.empty();
        }
        response.setStatusCode(HttpStatusCode.valueOf(status));
        response.getHeaders().set("Cache-Control", "no-store");
        return WebRejection.send(response, "application/problem+json", Refusals.problem(status));
    }

    /** Shared by all filters of a request. */
    private static LimitsInAnswer limits(ServerWebExchange exchange) {
        return (LimitsInAnswer) exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> new LimitsInAnswer());
    }

    private static void restore(Map<String, List<String>> fields, HttpHeaders headers) {
        headers.clear();
        fields.forEach(fields(headers)::setAll);
    }

    private static QuotaFields.ResponseFields fields(HttpHeaders headers) {
        return new QuotaFields.ResponseFields() {
            @Override
            public void set(String field, String line) {
                headers.set(field, line);
            }

            @Override
            public void add(String field, String line) {
                headers.add(field, line);
            }

            @Override
            public Collection<String> lines(String field) {
                return WebRequest.lines(headers, field);
            }
        };
    }
}
