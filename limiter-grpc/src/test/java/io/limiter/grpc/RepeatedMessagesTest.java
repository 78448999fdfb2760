package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status.Code;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.grpc.GrpcCall.Shared;
import io.limiter.http.internal.RequestLedger;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that pass two interceptors, as with rules before and after authentication; on Redis the second one waits. */
class RepeatedMessagesTest {
    /** Two rules of one policy. */
    private static final String RULES = """
            limiter.policies.chat.limits = 400/1h fixed
            limiter.rules.early.path = /t.Votes/Chat
            limiter.rules.early.methods = ext:MESSAGE
            limiter.rules.early.policy = chat
            limiter.rules.early.key = global
            limiter.rules.late.path = /t.Votes/Chat
            limiter.rules.late.methods = ext:MESSAGE
            limiter.rules.late.policy = chat
            limiter.rules.late.key = global
            """;

    /** Makes a message of each part of one. */
    private static final class Splitting implements ServerInterceptor {
        @Override
        public <Q, A> Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
                @Override
                @SuppressWarnings("unchecked") // All messages are text.
                public void onMessage(Q message) {
                    for (String part : ((String) message).split(",", -1)) {
                        super.onMessage((Q) part);
                    }
                }
            };
        }
    }

    /** Sends messages, and returns how many permits of the policy they took. */
    private static long taken(boolean redis, String message, int number, int parts, ServerInterceptor... between)
            throws Exception {
        try (RateLimiter decides = Backends.limiter(redis);
                Limiter limiter = Limiter.of(CallSite.config(RULES), decides);
                RateLimitServerInterceptor second = RateLimitServerInterceptor.builder(limiter)
                        .configuredRules("late"::equals)
                        .build();
                CallSite site = new CallSite(
                        limiter,
                        (one, to) -> one,
                        builder -> builder.configuredRules("early"::equals),
                        IntStream.rangeClosed(0, between.length)
                                .mapToObj(i -> i == 0 ? second : between[i - 1])
                                .toArray(ServerInterceptor[]::new))) {
            Talk talk = site.chat()
                    .say(IntStream.range(0, number).mapToObj(i -> message).toArray(String[]::new));
            Await.until("all are answered", () -> talk.messages.size() == number * parts);
            long taken = site.taken("chat", 400);
            assertEquals(Code.OK, talk.code());
            return taken;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void areChargedOnce(boolean redis) throws Exception {
        assertEquals(300, taken(redis, "a", 300, 1));
    }

    /** The first part is the message that the first interceptor has charged, and the others are new. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thatAreMadeOfOneAreChargedEach(boolean redis) throws Exception {
        assertEquals(320, taken(redis, "a,b,c,d", 80, 4, new Splitting()));
    }

    @Test
    void onlyTheFirstOnTheSameThreadIsTheSame() {
        Shared shared = new Shared();
        Object way = new Object();
        Map<Object, RequestLedger> ledgers = new HashMap<>();
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            shared.pass(ledgers, () -> {
                assertNotSame(
                        ledgers,
                        CompletableFuture.supplyAsync(() -> shared.ledgers(way), other)
                                .join());
                assertSame(ledgers, shared.ledgers(way));
                assertNotSame(ledgers, shared.ledgers(way), "the second");
            });
        } finally {
            other.shutdownNow();
        }
        assertNotSame(ledgers, shared.ledgers(way), "afterwards");
        ledgers.put(way, new RequestLedger(RateLimiters.unlimited(), null));
        shared.pass(ledgers, () -> assertNotSame(ledgers, shared.ledgers(way), "where it came from"));
    }
}
