package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status.Code;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.limiter.application.Limiter;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import io.limiter.kit.door.Spellings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Clients that try to get around the rules. */
class AttackTest extends HandOver {
    @Test
    void noSpellingOfAMethodGetsAroundItsRule() throws Exception {
        List<String> ways = new ArrayList<>(List.of(
                "t.votes/Vote",
                "t.Votes/vote",
                "T.VOTES/VOTE",
                "t.Votes/Vote/",
                "t.Votes//Vote",
                "/t.Votes/Vote",
                "//t.Votes/Vote",
                "t.Votes/./Vote",
                "t.Votes/../t.Votes/Vote",
                "x/../t.Votes/Vote",
                "t.Votes/Vo%74e",
                "t%2EVotes/Vote",
                "t.Votes%2FVote",
                "t.Votes/Vote;x=1",
                "t.Votes/Vote?x=1",
                "t.Votes/Vote#x",
                "t.Votes\\Vote",
                "t.Votes/Vote%00",
                "t.Votes/Vote.",
                "t.Votes/+Vote"));
        for (String target : Spellings.some(100, 5)) {
            ways.add(target.substring(1).replace("static", "t.Votes").replace("admin", "Vote"));
        }
        start("limiter.rules.r.path = /t.Votes/Vote\nlimiter.rules.r.limits = 0/1h fixed\n", builder -> builder);
        assertEquals(Code.RESOURCE_EXHAUSTED, site.code());
        for (String way : ways) {
            if (way.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
                assertNotEquals(Code.OK, CallSite.unary(site.channel, way, "v").code(), way);
            }
        }
        assertEquals(0, served.get());
    }

    /** A server that serves each name, as a proxy does: only what has one reading, and is exempt in it, is not counted. */
    @Test
    void noSpellingReachesAnotherMethodUncounted() throws Exception {
        Limiter limiter = Limiter.of(CallSite.config("""
                        limiter.rules.all.path = /*
                        limiter.rules.all.limits = 0/1h fixed
                        limiter.rules.all.except = /health, /static/*, /img/{size}/logo.png
                        """), decides);
        List<String> names = new CopyOnWriteArrayList<>();
        HandlerRegistry any = new HandlerRegistry() {
            @Override
            public ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
                return ServerMethodDefinition.create(
                        CallSite.method(name, MethodType.UNARY), ServerCalls.asyncUnaryCall((message, observer) -> {
                            names.add(name);
                            observer.onNext(message);
                            observer.onCompleted();
                        }));
            }
        };
        Server server = NettyServerBuilder.forPort(0)
                .fallbackHandlerRegistry(any)
                .intercept(RateLimitServerInterceptor.builder(limiter).build())
                .build()
                .start();
        ManagedChannel channel = CallSite.connect(server.getPort());
        try {
            for (String target : Spellings.some(300, 2)) {
                String way = target.substring(1);
                if (way.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
                    CallSite.unary(channel, way, "v").code();
                }
            }
            assertTrue(names.size() >= 3, "the exempt paths themselves: " + names);
            List<String> ways = names.stream()
                    .filter(name -> !name.matches("health|static(/.*)?|img/[^/]+/logo.png")
                            || name.matches(".*(;|%|\\\\|//|/[.]{1,2}(/.*)?$).*"))
                    .toList();
            assertEquals(List.of(), ways);
        } finally {
            channel.shutdownNow();
            server.shutdownNow().awaitTermination();
        }
    }

    /** A key that is sent twice, or as bytes, or in another case, is no new client. */
    @Test
    void metadataMakeNoNewClients() throws Exception {
        start("""
                limiter.rules.r.path = /*
                limiter.rules.r.key = header:X-Api-Key
                limiter.rules.r.limits = 3/1h fixed
                """, builder -> builder);
        assertEquals(Code.OK, site.code("X-API-KEY: a"));
        assertEquals(Code.OK, site.code("x-api-key: a"));
        assertEquals(Code.OK, site.code("X-Api-Key: a", "X-Api-Key: a"));
        assertEquals(Code.RESOURCE_EXHAUSTED, site.code("X-Api-Key: a"));
        // Ambiguous, empty or missing: by address.
        assertEquals(Code.OK, site.code("X-Api-Key: b", "X-Api-Key: c"));
        assertEquals(Code.OK, site.code("X-Api-Key: d", "X-Api-Key: e"));
        assertEquals(Code.OK, site.code());
        assertEquals(Code.RESOURCE_EXHAUSTED, site.code("X-Api-Key: f", "X-Api-Key: g"));
        assertEquals(Code.RESOURCE_EXHAUSTED, site.code("X-Api-Key:  "));
        assertEquals(Code.RESOURCE_EXHAUSTED, site.code("X-Api-Key:  a "));
        Metadata bytes = new Metadata();
        bytes.put(Metadata.Key.of("x-api-key-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {1, 2, 3});
        Channel sending = ClientInterceptors.intercept(site.channel, MetadataUtils.newAttachHeadersInterceptor(bytes));
        Talk denied = CallSite.unary(sending, "t.Votes/Vote", "v");
        assertEquals(Code.RESOURCE_EXHAUSTED, denied.code());
        assertEquals(6, served.get());
    }

    /** Too much metadata is refused by the server, and what is just small enough is counted in time. */
    @Test
    void largeMetadata() throws Exception {
        start("""
                limiter.client-ip.trusted-proxies = 127.0.0.0/8
                limiter.rules.r.path = /*
                limiter.rules.r.limits = 2/1h fixed
                limiter.rules.flight.path = /*
                limiter.rules.flight.key = global
                limiter.rules.flight.limits = 9 concurrent
                """, builder -> builder);
        String hops = String.join(
                ", ",
                IntStream.range(0, 450).mapToObj(i -> "192.0.2." + i % 250).toList());
        String[] lines = IntStream.range(0, 120)
                .mapToObj(i -> "X-Forwarded-For: 192.0.2." + i)
                .toArray(String[]::new);
        for (int i = 0; i < 4; i++) {
            // The last hop is the client.
            assertEquals(i < 2 ? Code.OK : Code.RESOURCE_EXHAUSTED, site.code("X-Forwarded-For: " + hops));
            assertEquals(i < 2 ? Code.OK : Code.RESOURCE_EXHAUSTED, site.code(lines));
        }
        int before = served.get();
        assertNotEquals(Code.OK, site.code("X-Large: " + "x".repeat(60_000)));
        assertEquals(before, served.get());
        assertNothingInFlight();
    }

    private static final String IN_FLIGHT = """
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = 900 concurrent
            limiter.rules.kept.path = /*
            limiter.rules.kept.key = global
            limiter.rules.kept.limits = 100000/1h fixed
            limiter.rules.kept.refund-on = 200
            """;

    /** A flood of streams that are reset at once (CVE-2023-44487): each one that reaches the service is counted, and holds nothing. */
    @Test
    void streamsThatAreResetAreCountedAndHoldNothing() throws Exception {
        site = CallSite.start(decides, IN_FLIGHT, (message, to) -> {
            served.incrementAndGet();
            return null;
        });
        int calls = Repeats.of(500, 50_000);
        for (int i = 0; i < calls; i++) {
            site.vote("v").cancel();
        }
        Await.until("nothing is in flight", () -> site.left("flight") == 900);
        long counted = site.taken("kept", 100_000);
        assertTrue(counted >= served.get() && counted <= calls, counted + " counted, " + served + " served");
    }

    /** A client that reads nothing: its permit is free when the service has closed the call. */
    @Test
    void slowReadersHoldNoPermits() throws Exception {
        start(IN_FLIGHT, builder -> builder);
        for (int i = 0; i < 20; i++) {
            ClientCall<String, String> call = site.channel.newCall(
                    CallSite.method("t.Votes/Watch", MethodType.SERVER_STREAMING), CallOptions.DEFAULT);
            call.start(new ClientCall.Listener<>() {}, new Metadata());
            call.sendMessage("v".repeat(100_000));
            call.halfClose();
        }
        Await.until("all are served", () -> served.get() == 20);
        Await.until("nothing is in flight", () -> site.left("flight") == 900);
    }

    /** A client that sends messages before it is admitted, or after it was denied. */
    @Test
    void messagesBeforeTheDecisionAreNotLostAndAfterADenialNotServed() throws Exception {
        start("""
                limiter.rules.r.path = /*
                limiter.rules.r.limits = 20/1s token-bucket burst 1
                limiter.rules.r.wait = 1m
                """, builder -> builder);
        List<Talk> talks = IntStream.range(0, 5)
                .mapToObj(i -> site.chat().say("1", "2", "3", "4", "5").over())
                .toList();
        timer.advanceUntil("all have had their turn", () -> talks.stream().allMatch(Talk::isOver));
        for (Talk talk : talks) {
            assertEquals(List.of("1", "2", "3", "4", "5"), talk.end().messages());
        }
        assertEquals(25, served.get());
    }
}
