package io.limiter.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status.Code;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.ManualTimer;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A site for one test, whose limiter is in this JVM and is looked at. */
abstract class HandOver {
    static final String COUNTED = """
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = 9 concurrent
            limiter.rules.kept.path = /*
            limiter.rules.kept.key = global
            limiter.rules.kept.limits = 1000/1h fixed
            """;
    /** The second call waits until a test moves the time on by a second. */
    static final String WAITS = COUNTED + """
            limiter.rules.wait.path = /*
            limiter.rules.wait.key = global
            limiter.rules.wait.limits = 1/1s token-bucket burst 1
            limiter.rules.wait.wait = 1m
            """;
    /** The second message waits until a test moves the time on by a second. */
    static final String MESSAGES = """
            limiter.rules.messages.path = /t.Votes/Chat
            limiter.rules.messages.methods = ext:MESSAGE
            limiter.rules.messages.key = global
            limiter.rules.messages.limits = 1/1s token-bucket burst 1
            limiter.rules.messages.wait = 1m
            """;

    final ManualTimer timer = new ManualTimer();
    final RateLimiter decides = timer.limiter();
    final AtomicInteger served = new AtomicInteger();
    final CountDownLatch cancelled = new CountDownLatch(1);

    @Nullable
    CallSite site;

    @AfterEach
    void stop() throws InterruptedException {
        stopSite();
        decides.close();
    }

    final void stopSite() throws InterruptedException {
        if (site != null) {
            site.close();
            site = null;
        }
    }

    final CallSite start(
            String rules, UnaryOperator<RateLimitServerInterceptor.Builder> with, ServerInterceptor... after)
            throws Exception {
        site = new CallSite(
                Limiter.of(CallSite.config(rules), decides),
                (message, to) -> {
                    served.incrementAndGet();
                    return message;
                },
                with,
                after);
        return site;
    }

    /** No thread is free for what waits. */
    static RateLimitServerInterceptor.Builder withoutThreads(RateLimitServerInterceptor.Builder builder) {
        return builder.executor(task -> {
            throw new RejectedExecutionException("full");
        });
    }

    final void assertNothingInFlight() {
        Await.until("nothing is in flight", () -> site.taken("flight", 9) == 0);
    }

    final void awaitWaiting(int calls) {
        Await.until(calls + " wait", () -> decides.monitor().waiting() == calls);
    }

    /** A service that gets its calls as gRPC gives them. */
    static ServerInterceptor raw(Function<ServerCall<String, String>, Listener<String>> begin) {
        return new ServerInterceptor() {
            @Override
            @SuppressWarnings("unchecked") // All messages are text.
            public <Q, A> Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                return (Listener<Q>) begin.apply((ServerCall<String, String>) call);
            }
        };
    }

    /** Calls the service; the call waits, and has its turn. */
    final Code codeAfterWaiting() {
        Talk talk = site.vote("v");
        awaitWaiting(1);
        timer.advance(1_000_000);
        return talk.end().code();
    }
}
