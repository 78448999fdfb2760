package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status.Code;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls that go from one thread to another: the limiter's, the service's, the transport's, and none that is free. */
class HandOverTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String COUNTED = """
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = 9 concurrent
            limiter.rules.kept.path = /*
            limiter.rules.kept.key = global
            limiter.rules.kept.limits = 1000/1h fixed
            """;
    /** The second call waits for a second. */
    private static final String WAITS = COUNTED + """
            limiter.rules.wait.path = /*
            limiter.rules.wait.key = global
            limiter.rules.wait.limits = 1/1s token-bucket burst 1
            limiter.rules.wait.wait = 1m
            """;
    /** The second message waits for a second. */
    private static final String MESSAGES = """
            limiter.rules.messages.path = /t.Votes/Chat
            limiter.rules.messages.methods = ext:MESSAGE
            limiter.rules.messages.key = global
            limiter.rules.messages.limits = 1/1s token-bucket burst 1
            limiter.rules.messages.wait = 1m
            """;

    private final RateLimiter decides = RateLimiters.on(InProcessBackend.create());
    private final AtomicInteger served = new AtomicInteger();
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private @Nullable CallSite site;

    @AfterEach
    void stop() throws InterruptedException {
        if (site != null) {
            site.close();
        }
        decides.close();
    }

    private CallSite start(
            String rules, UnaryOperator<RateLimitServerInterceptor.Builder> with, ServerInterceptor... after)
            throws Exception {
        site = CallSite.start(
                Limiter.of(CallSite.config(rules), decides),
                (message, to) -> {
                    served.incrementAndGet();
                    return message;
                },
                with,
                after);
        return site;
    }

    private void assertNothingInFlight() {
        Await.until(LONG, "nothing is in flight", () -> site.taken("flight", 9) == 0);
    }

    /** A service that gets its calls as gRPC gives them. */
    private abstract static class Raw implements ServerInterceptor {
        @Override
        @SuppressWarnings("unchecked") // All messages are text.
        public final <Q, A> Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return (Listener<Q>) begin((ServerCall<String, String>) call);
        }

        abstract Listener<String> begin(ServerCall<String, String> call);
    }

    private Talk chat(String... headers) {
        return site.talk("Chat", MethodType.BIDI_STREAMING, headers);
    }

    /** The service sends all the time, on a thread of its own; a message is denied. The site checks that they take turns. */
    @Test
    void theLimiterClosesACallWhileTheServiceSends() throws Exception {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        AtomicInteger ended = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        start("""
                limiter.rules.messages.path = /*
                limiter.rules.messages.methods = ext:MESSAGE
                limiter.rules.messages.key = header:K
                limiter.rules.messages.limits = 1/1h
                """, builder -> builder, new Raw() {
            @Override
            Listener<String> begin(ServerCall<String, String> call) {
                call.sendHeaders(new Metadata());
                call.request(2);
                return new Listener<>() {
                    @Override
                    public void onMessage(String message) {
                        threads.execute(() -> {
                            try {
                                while (!call.isCancelled()) {
                                    call.sendMessage(message);
                                }
                            } catch (Throwable failed) {
                                failures.add(failed);
                            }
                            ended.incrementAndGet();
                        });
                    }
                };
            }
        });
        int rounds = Repeats.of(150, 20_000);
        try {
            for (int i = 0; i < rounds; i++) {
                Talk talk = chat("K: " + i).say("1");
                assertEquals("1", talk.messages.poll(20, TimeUnit.SECONDS));
                talk.say("2");
                assertEquals(Code.RESOURCE_EXHAUSTED, talk.end().code());
            }
            Await.until(LONG, "all have ended", () -> ended.get() == rounds);
        } finally {
            threads.shutdownNow();
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    /** The thread that has the decision is one of Redis' or of the clock's. */
    @Test
    void noServiceRunsWhereNoThreadIsFree() throws Exception {
        start(
                WAITS,
                builder -> builder.executor(task -> {
                    throw new RejectedExecutionException("full");
                }));
        assertEquals(Code.OK, site.code());
        assertEquals(Code.UNAVAILABLE, site.code());
        assertEquals(1, served.get());
        assertEquals(1, site.taken("kept", 1_000), "what the second one took came back");
        assertNothingInFlight();
    }

    @Test
    void aStreamEndsWhereNoThreadIsFreeForAMessage() throws Exception {
        Queue<String> got = new ConcurrentLinkedQueue<>();
        start(
                COUNTED + MESSAGES,
                builder -> builder.executor(task -> {
                    throw new RejectedExecutionException("full");
                }),
                new Raw() {
                    @Override
                    Listener<String> begin(ServerCall<String, String> call) {
                        call.request(9);
                        return new Listener<>() {
                            @Override
                            public void onMessage(String message) {
                                got.add(message);
                            }

                            @Override
                            public void onCancel() {
                                cancelled.countDown();
                            }
                        };
                    }
                });
        assertEquals(Code.UNAVAILABLE, chat().say("1", "2", "3").end().code());
        assertTrue(cancelled.await(20, TimeUnit.SECONDS), "the service knows");
        assertEquals(List.of("1"), List.copyOf(got));
        assertNothingInFlight();
    }

    /** What a task takes along can fail. Its call has left the queue and its place, of which there is one. */
    @Test
    void aContextThatFailsKeepsNoPlace() throws Exception {
        AtomicInteger failing = new AtomicInteger(3);
        start(
                "limiter.wait.max-waiting = 1\n" + WAITS,
                builder -> builder.context(task -> {
                    if (failing.getAndDecrement() > 0) {
                        throw new IllegalStateException("meant");
                    }
                    return task;
                }));
        assertEquals(Code.OK, site.code());
        while (failing.get() > 0) {
            assertNotEquals(Code.RESOURCE_EXHAUSTED, site.code());
            Await.until(LONG, "none waits", () -> decides.monitor().waiting() == 0);
        }
        assertEquals(Code.OK, site.code());
        assertNothingInFlight();
    }

    /** Also without rules: the service of a call finds it, and its messages meet rules that come later. */
    @Test
    void aStreamThatBeginsWithoutRulesMeetsLaterOnes() throws Exception {
        String rules = """
                limiter.rules.messages.path = /t.Votes/Chat
                limiter.rules.messages.methods = ext:MESSAGE
                limiter.rules.messages.limits = 1/1h
                """;
        site = CallSite.start(decides, "limiter.rules.messages.enabled = false\n" + rules, (message, to) -> {
            GrpcCall.current().orElseThrow().set("tokens", 3);
            return message;
        });
        assertEquals(Code.OK, site.code());
        Talk talk = chat().say("1", "2");
        assertEquals("1", talk.messages.poll(20, TimeUnit.SECONDS));
        assertEquals("2", talk.messages.poll(20, TimeUnit.SECONDS));
        site.limiter.replace(CallSite.config(rules));
        talk.say("3");
        assertEquals("3", talk.messages.poll(20, TimeUnit.SECONDS));
        assertEquals(Code.RESOURCE_EXHAUSTED, talk.say("4").end().code());
    }

    /** The decision is there, and its task has not begun. */
    @Test
    void aCallThatLeavesBetweenDecisionAndServiceIsNotServed() throws Exception {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        start(WAITS, builder -> builder.executor(tasks::add));
        assertEquals(Code.OK, site.code());
        Talk talk = site.vote("v");
        Await.until(LONG, "it is decided", () -> !tasks.isEmpty());
        assertEquals(1, site.taken("flight", 9));
        talk.cancel();
        assertNothingInFlight();
        tasks.remove().run();
        assertEquals(1, served.get());
        assertEquals(2, site.taken("kept", 1_000), "what was decided is kept");
        assertNothingInFlight();
    }

    /** Its end is already behind the message at which it fails. */
    @Test
    void aServiceThatFailsAfterItsClientHasLeftHoldsNothing() throws Exception {
        CompletableFuture<Talk> calling = new CompletableFuture<>();
        start(COUNTED + MESSAGES, builder -> builder, new Raw() {
            @Override
            Listener<String> begin(ServerCall<String, String> call) {
                call.request(2);
                return new Listener<>() {
                    @Override
                    public void onMessage(String message) {
                        if (message.equals("2")) {
                            calling.join().cancel();
                            Await.until(LONG, "the client has left", () -> site.left.get() == 1);
                            throw new IllegalStateException("meant");
                        }
                    }

                    @Override
                    public void onCancel() {
                        cancelled.countDown();
                    }
                };
            }
        });
        calling.complete(chat().say("1", "2"));
        assertTrue(cancelled.await(20, TimeUnit.SECONDS), "the service knows");
        assertNothingInFlight();
    }

    /** gRPC sends as many as the service asks for. While one waits, the others would be kept. */
    @Test
    void fewMessagesAreKeptBehindOneThatWaits() throws Exception {
        AtomicInteger got = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        start("""
                limiter.rules.messages.path = /*
                limiter.rules.messages.methods = ext:MESSAGE
                limiter.rules.messages.limits = 500/1s token-bucket burst 1
                limiter.rules.messages.wait = 1m
                """, builder -> builder, new Raw() {
            @Override
            Listener<String> begin(ServerCall<String, String> call) {
                call.request(Integer.MAX_VALUE);
                return new Listener<>() {
                    @Override
                    public void onMessage(String message) {
                        assertEquals(Integer.toString(got.get()), message);
                        most.accumulateAndGet(site.received.get() - got.getAndIncrement(), Math::max);
                    }

                    @Override
                    public void onHalfClose() {
                        call.close(io.grpc.Status.OK, new Metadata());
                    }
                };
            }
        });
        String[] messages = IntStream.range(0, 200).mapToObj(Integer::toString).toArray(String[]::new);
        assertEquals(Code.OK, chat().say(messages).over().end().code());
        assertEquals(200, got.get());
        assertTrue(most.get() > 16 && most.get() <= 33, "kept: " + most);
    }

    /** A slow client reads again, while its own message waits. */
    @Test
    void aServiceSendsOnWhileAMessageWaits() throws Exception {
        // More than the windows of a connection that is not read.
        int most = 120;
        AtomicInteger sent = new AtomicInteger();
        start(MESSAGES.replace("1/1s", "1/1m"), builder -> builder, new Raw() {
            @Override
            Listener<String> begin(ServerCall<String, String> call) {
                call.sendHeaders(new Metadata());
                call.request(9);
                return new Listener<>() {
                    @Override
                    public void onMessage(String message) {
                        onReady();
                    }

                    @Override
                    public void onReady() {
                        while (call.isReady() && sent.get() < most) {
                            call.sendMessage("x".repeat(50_000));
                            sent.incrementAndGet();
                        }
                    }
                };
            }
        });
        ClientCall<String, String> call =
                site.channel().newCall(CallSite.method("t.Votes/Chat", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {}, new Metadata());
        call.sendMessage("1");
        call.sendMessage("2");
        Await.until(LONG, "one waits", () -> decides.monitor().waiting() == 1);
        assertTrue(sent.get() < most, "the client has read nothing");
        call.request(1_000);
        Await.until(LONG, "the service may send", () -> sent.get() == most);
        assertEquals(1, decides.monitor().waiting());
        call.cancel("meant", null);
        Await.until(LONG, "none waits", () -> decides.monitor().waiting() == 0);
    }
}
