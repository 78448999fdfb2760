package io.limiter.webflux;

import io.limiter.RateLimiter;
import io.limiter.http.internal.RequestLedger;
import io.limiter.http.internal.request.Request;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/**
 * The ledger of an exchange, which knows when the application has ended. Locked by itself while it is used: a server cancels an
 * exchange on another thread.
 */
final class WebLedger extends RequestLedger {
    /** How many filters wait for the end of the rest of the chain. */
    private int depth;

    private WebLedger(RateLimiter owner, @Nullable RequestLedger earlier) {
        super(owner, earlier);
    }

    static WebLedger of(Request request, RateLimiter owner) {
        return of(request, owner, WebLedger.class, WebLedger::new);
    }

    /** Runs the rest of the chain. Only the end of the outermost filter is that of the application. */
    Mono<Void> run(WebFilterChain chain, ServerWebExchange exchange) {
        synchronized (this) {
            expectEnd();
            depth++;
        }
        // A chain that is cancelled may complete at the same moment.
        AtomicBoolean isOver = new AtomicBoolean();
        ServerWebExchange watched = mayBeLeft()
                ? exchange.mutate()
                        .response(new Watched(exchange.getResponse()))
                        .build()
                : exchange;
        return Mono.defer(() -> chain.filter(watched))
                .doOnSuccess(done -> end(isOver, exchange, null, false))
                .doOnError(failure -> end(isOver, exchange, failure, false))
                // After the rest of the chain, which may tell a cost then.
                .doFinally(how -> {
                    if (how == SignalType.CANCEL) {
                        end(isOver, exchange, null, true);
                    }
                });
    }

    private synchronized void end(
            AtomicBoolean isOver, ServerWebExchange exchange, @Nullable Throwable failure, boolean isCancelled) {
        if (!isOver.compareAndSet(false, true) || --depth > 0) {
            return;
        }
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        HttpHeaders ofResponse = exchange.getResponse().getHeaders();
        Function<String, Collection<String>> headers = name -> ExchangeAnswers.lines(ofResponse, name);
        if (failure instanceof ErrorResponse answer) {
            // It is an answer of the application; a handler outside of all filters writes it.
            status = answer.getStatusCode();
            headers = name -> Stream.of(answer.getHeaders(), ofResponse)
                    .map(all -> ExchangeAnswers.lines(all, name))
                    .filter(lines -> !lines.isEmpty())
                    .findFirst()
                    .orElse(List.of());
        } else if (failure != null) {
            ResponseStatus answer =
                    AnnotatedElementUtils.findMergedAnnotation(failure.getClass(), ResponseStatus.class);
            status = answer == null ? null : answer.code();
        }
        if (isCancelled) {
            leave();
        }
        // A client may leave when it has read the response, before this has ended: the status that was sent is known.
        if (isCancelled ? !exchange.getResponse().isCommitted() : failure != null && status == null) {
            keep();
        }
        settle(status != null ? status.value() : failure == null ? 200 : 0, headers, exchange::getAttribute);
    }

    /** Notes that the server cancels the body: after a client has left, Netty completes the response as if it was written. */
    private final class Watched extends ServerHttpResponseDecorator {
        Watched(ServerHttpResponse response) {
            super(response);
        }

        @Override
        public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
            // A body of one part is written in another way.
            return super.writeWith(
                    body instanceof Mono<? extends DataBuffer> one ? one.doFinally(this::end) : watched(body));
        }

        @Override
        public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
            return super.writeAndFlushWith(watched(body).map(this::watched));
        }

        private <T> Flux<T> watched(Publisher<T> parts) {
            return Flux.from(parts).doFinally(this::end);
        }

        private void end(SignalType how) {
            if (how == SignalType.CANCEL) {
                leave();
            }
        }
    }
}
