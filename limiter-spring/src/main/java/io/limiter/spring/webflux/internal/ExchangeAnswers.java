package io.limiter.spring.webflux.internal;

import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.ResponseType;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What filters, routes and denied methods have in common in WebFlux: how an answer is awaited, and how responses are written. */
public final class ExchangeAnswers {
    /** {@code HttpHeaders.get}: of a text in Spring 7, of any object in Spring 6. */
    private static final MethodHandle LINES = linesOf(String.class, Object.class);

    /** The responses. */
    public static final ResponseType<ServerHttpResponse> TYPE = new ResponseType<>(
            ServerHttpResponse::isCommitted,
            (response, status) -> response.setStatusCode(HttpStatusCode.valueOf(status)),
            response -> response.getHeaders().clear(),
            (response, field, line) -> response.getHeaders().set(field, line),
            (response, field, line) -> response.getHeaders().add(field, line),
            (response, field) -> lines(response.getHeaders(), field),
            (response, to) -> response.getHeaders().forEach(to));

    private static final String LIMITS = LimitsInAnswer.class.getName();

    private ExchangeAnswers() {}

    private static MethodHandle linesOf(Class<?>... names) {
        for (Class<?> name : names) {
            try {
                return MethodHandles.publicLookup()
                        .findVirtual(HttpHeaders.class, "get", MethodType.methodType(List.class, name))
                        .asType(MethodType.methodType(List.class, HttpHeaders.class, String.class));
            } catch (ReflectiveOperationException other) {
                // Another version of Spring.
            }
        }
        throw new IllegalStateException("HttpHeaders of Spring has no method get");
    }

    /** The lines of a field. */
    @SuppressWarnings("unchecked") // A signature of Spring.
    public static List<String> lines(HttpHeaders headers, String name) {
        try {
            List<String> lines = (List<String>) LINES.invokeExact(headers, name);
            return lines == null ? List.of() : lines;
        } catch (Throwable failed) {
            throw new IllegalStateException("the lines of a field can't be read", failed);
        }
    }

    /** The limits in the answer to a request; the same for all that decide about it. */
    public static LimitsInAnswer limits(ServerWebExchange exchange) {
        return (LimitsInAnswer) exchange.getAttributes().computeIfAbsent(LIMITS, name -> new LimitsInAnswer());
    }

    /** An answer, on a thread of Reactor if it is not known yet: what completes it never runs what follows. */
    public static <T> Mono<T> onReactor(CompletableFuture<T> known) {
        Mono<T> answer = Mono.fromFuture(known, true);
        return known.isDone() ? answer : answer.publishOn(Schedulers.parallel());
    }

    /** Sends the body of a denial that the request prefers. */
    public static Mono<Void> send(DenialAnswer denial, ServerWebExchange exchange) {
        List<String> accept = lines(exchange.getRequest().getHeaders(), "Accept");
        return send(exchange.getResponse(), denial.body(accept));
    }

    /** Sends a body; the server leaves it out for a HEAD request. */
    public static Mono<Void> send(ServerHttpResponse response, DenialAnswer.Body body) {
        byte[] bytes = body.text().getBytes(StandardCharsets.US_ASCII);
        HttpHeaders headers = response.getHeaders();
        headers.set("Content-Type", body.contentType());
        headers.setContentLength(bytes.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(bytes)));
    }
}
