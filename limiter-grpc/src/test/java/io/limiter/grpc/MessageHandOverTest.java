package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall.Listener;
import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import io.limiter.grpc.CallSite.Ended;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The same with the messages of streams. */
class MessageHandOverTest extends HandOver {
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
                """, builder -> builder, raw(call -> {
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
        }));
        int rounds = Repeats.of(50, 2_000);
        try {
            for (int i = 0; i < rounds; i++) {
                Talk talk = site.chat("K: " + i).say("1");
                assertEquals("1", talk.messages.poll(60, TimeUnit.SECONDS));
                talk.say("2");
                assertEquals(Code.RESOURCE_EXHAUSTED, talk.end().code());
            }
            Await.until("all have ended", () -> ended.get() == rounds);
        } finally {
            threads.shutdownNow();
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    /** It may tell then what the call has cost. */
    @Test
    void aDeniedMessageEndsTheCallWhenTheServiceKnows() throws Exception {
        AtomicLong inFlight = new AtomicLong();
        start(COUNTED + """
                limiter.policies.tokens.limits = 1000/1h fixed
                limiter.policies.tokens.holds = 10
                limiter.rules.chat.path = /*
                limiter.rules.chat.key = global
                limiter.rules.chat.policy = tokens
                limiter.rules.chat.cost = 10
                limiter.rules.chat.settle = attribute:tokens
                limiter.rules.messages.path = /*
                limiter.rules.messages.methods = ext:MESSAGE
                limiter.rules.messages.limits = 1/1h
                """, builder -> builder, raw(call -> {
            GrpcCall told = GrpcCall.current().orElseThrow();
            call.request(9);
            return new Listener<>() {
                @Override
                public void onCancel() {
                    inFlight.set(site.taken("flight", 9));
                    told.set("tokens", 30);
                }
            };
        }));
        assertEquals(Code.RESOURCE_EXHAUSTED, site.chat().say("1", "2").end().code());
        assertEquals(1, inFlight.get());
        assertEquals(970, site.left("tokens"));
        assertNothingInFlight();
    }

    @Test
    void aStreamEndsWhereNoThreadIsFreeForAMessage() throws Exception {
        Queue<String> got = new ConcurrentLinkedQueue<>();
        start(COUNTED + MESSAGES, HandOver::withoutThreads, raw(call -> {
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
        }));
        Talk talk = site.chat().say("1", "2", "3");
        awaitWaiting(1);
        timer.advance(1_000_000);
        assertEquals(Code.UNAVAILABLE, talk.end().code());
        assertTrue(cancelled.await(60, TimeUnit.SECONDS), "the service knows");
        assertEquals(List.of("1"), List.copyOf(got));
        assertNothingInFlight();
    }

    @Test
    void aMessageThatWaitsLeavesTheQueueWithItsClient() throws Exception {
        start(MESSAGES, builder -> builder);
        Talk talk = site.chat().say("1", "2", "3");
        awaitWaiting(1);
        talk.cancel();
        awaitWaiting(0);
        Talk other = site.chat().say("4");
        awaitWaiting(1);
        site.interceptor.stopHolding();
        assertEquals(Code.UNAVAILABLE, other.end().code());
    }

    @Test
    void aMessageThatWaitsLeavesTheQueueWhenTheServiceClosesTheCall() throws Exception {
        CompletableFuture<StreamObserver<String>> answers = new CompletableFuture<>();
        site = CallSite.start(decides, MESSAGES, (message, to) -> answers.complete(to) ? message : "late");
        Talk talk = site.chat().say("1", "2", "3");
        awaitWaiting(1);
        answers.join().onCompleted();
        Ended ended = talk.end();
        assertEquals(Code.OK, ended.code());
        assertEquals(List.of("1"), ended.messages());
        awaitWaiting(0);
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
        Talk talk = site.chat().say("1", "2");
        assertEquals("1", talk.messages.poll(60, TimeUnit.SECONDS));
        assertEquals("2", talk.messages.poll(60, TimeUnit.SECONDS));
        site.limiter.replace(CallSite.config(rules));
        talk.say("3");
        assertEquals("3", talk.messages.poll(60, TimeUnit.SECONDS));
        assertEquals(Code.RESOURCE_EXHAUSTED, talk.say("4").end().code());
    }

    /** gRPC sends as many as the service asks for. While one waits, the others would be kept. */
    @Test
    void fewMessagesAreKeptBehindOneThatWaits() throws Exception {
        AtomicInteger got = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        start("""
                limiter.rules.messages.path = /*
                limiter.rules.messages.methods = ext:MESSAGE
                limiter.rules.messages.limits = 1/1s token-bucket burst 1
                limiter.rules.messages.wait = 1m
                """, builder -> builder, raw(call -> {
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
        }));
        String[] messages = IntStream.range(0, 100).mapToObj(Integer::toString).toArray(String[]::new);
        Talk talk = site.chat().say(messages).over();
        // None has its turn before the limiter has as many as it takes.
        Await.until("the queue is full", () -> site.received.get() - got.get() > 16);
        timer.advanceUntil("all have had their turn", talk::isOver);
        assertEquals(Code.OK, talk.end().code());
        assertEquals(100, got.get());
        assertTrue(most.get() > 16 && most.get() <= 33, "kept: " + most);
    }

    /** A slow client reads again, while its own message waits. */
    @Test
    void aServiceSendsOnWhileAMessageWaits() throws Exception {
        // More than the windows of a connection that is not read.
        int most = 120;
        AtomicInteger sent = new AtomicInteger();
        start(MESSAGES, builder -> builder, raw(call -> {
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
        }));
        ClientCall<String, String> call =
                site.channel.newCall(CallSite.method("t.Votes/Chat", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {}, new Metadata());
        call.sendMessage("1");
        call.sendMessage("2");
        awaitWaiting(1);
        assertTrue(sent.get() < most, "the client has read nothing");
        call.request(1_000);
        Await.until("the service may send", () -> sent.get() == most);
        assertEquals(1, decides.monitor().waiting());
        call.cancel("meant", null);
        awaitWaiting(0);
    }
}
