package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status.Code;
import io.limiter.RateLimiter;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 64 callers. Calls reach their deadline, are cancelled, or lose their connection. Each call is counted once, and its permits are freed once. */
class ManyCallsTest {
    private static final int CALLERS = 64;
    private static final int IN_FLIGHT = 48;
    private static final String RULES = """
            limiter.rules.flight.path = /*
            limiter.rules.flight.key = global
            limiter.rules.flight.limits = 48 concurrent
            limiter.rules.kept.path = /*
            limiter.rules.kept.key = global
            limiter.rules.kept.limits = 10000000/1h fixed
            limiter.rules.refunded.path = /*
            limiter.rules.refunded.key = global
            limiter.rules.refunded.limits = 10000000/1h fixed
            limiter.rules.refunded.refund-on = 200
            """;
    private static final String WAITING = RULES + """
            limiter.rules.wait.path = /*
            limiter.rules.wait.key = global
            limiter.rules.wait.limits = 4000/1s token-bucket burst 1
            limiter.rules.wait.wait = 10s
            """;
    private static final String BY_MESSAGE = WAITING + """
            limiter.rules.messages.path = /*
            limiter.rules.messages.methods = ext:MESSAGE
            limiter.rules.messages.key = global
            limiter.rules.messages.limits = 10000000/1h fixed
            """;

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void manyAtOnce(boolean inRedis, boolean byMessage) throws Exception {
        int each = Repeats.of(8, 100);
        LongAdder served = new LongAdder();
        LongAdder messages = new LongAdder();
        ScheduledExecutorService later = Executors.newScheduledThreadPool(2);
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (RateLimiter decides = Backends.limiter(inRedis);
                CallSite site = CallSite.start(decides, byMessage ? BY_MESSAGE : RULES, (message, to) -> {
                    messages.increment();
                    if (!message.equals("more")) {
                        served.increment();
                    }
                    if (message.equals("slow")) {
                        later.schedule(
                                () -> {
                                    synchronized (to) {
                                        try {
                                            to.onNext("late");
                                            to.onCompleted();
                                        } catch (RuntimeException gone) {
                                            // The client has cancelled.
                                        }
                                    }
                                },
                                2,
                                TimeUnit.MILLISECONDS);
                        return null;
                    }
                    if (message.equals("fails")) {
                        throw new IllegalStateException("meant");
                    }
                    return message;
                })) {
            LongAdder ok = new LongAdder();
            List<Future<?>> all = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                SplittableRandom random = new SplittableRandom(20_261_126 + caller);
                all.add(callers.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        if (call(site, random) == Code.OK) {
                            ok.increment();
                        }
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get(200, TimeUnit.SECONDS);
            }
            Await.until("nobody waits", () -> decides.monitor().waiting() == 0);
            Await.until(
                    "nothing is in flight: " + site.taken("flight", IN_FLIGHT),
                    () -> site.taken("flight", IN_FLIGHT) == 0);
            assertTrue(ok.sum() > 0, "some calls are answered");
            long kept = site.taken("kept", 10_000_000);
            assertTrue(kept >= served.sum(), "served uncounted: " + served + " of " + kept);
            assertTrue(kept <= (long) CALLERS * each, "counted twice: " + kept);
            long refunded = site.taken("refunded", 10_000_000);
            assertTrue(
                    refunded <= kept - ok.sum(),
                    "an answered call is refunded once: " + refunded + ", " + kept + ", " + ok);
            if (byMessage) {
                assertTrue(site.taken("messages", 10_000_000) >= messages.sum(), "a message uncounted");
            }
            // All places are there again: exactly so many calls at once, and no more.
            List<Talk> open = new ArrayList<>();
            for (int i = 0; i < IN_FLIGHT; i++) {
                open.add(site.chat());
            }
            Await.until("all are in flight", () -> site.taken("flight", IN_FLIGHT) >= IN_FLIGHT - 1);
            open.forEach(Talk::cancel);
            Await.until("nothing is in flight", () -> site.taken("flight", IN_FLIGHT) == 0);
        } finally {
            callers.shutdownNow();
            later.shutdownNow();
        }
    }

    private static Code call(CallSite site, SplittableRandom random) {
        boolean isStream = random.nextInt(3) == 0;
        String message = List.of("at once", "slow", "slow", "fails").get(random.nextInt(4));
        CallOptions options = random.nextInt(3) == 0
                ? CallOptions.DEFAULT.withDeadlineAfter(random.nextInt(4_000) + 200, TimeUnit.MICROSECONDS)
                : CallOptions.DEFAULT;
        boolean isCut = random.nextInt(16) == 0;
        ManagedChannel channel = isCut ? CallSite.connect(site.port()) : site.channel;
        Talk talk = new Talk(
                channel,
                CallSite.method(
                        isStream ? "t.Votes/Chat" : "t.Votes/Vote",
                        isStream ? MethodType.BIDI_STREAMING : MethodType.UNARY),
                options);
        talk.say(message);
        if (isStream) {
            talk.say("more");
        }
        if (!isStream || random.nextBoolean()) {
            talk.over();
        }
        if (isStream || random.nextInt(3) == 0) {
            LockSupport.parkNanos(random.nextInt(3_000_000));
            talk.cancel();
        }
        if (isCut) {
            LockSupport.parkNanos(random.nextInt(3_000_000));
            channel.shutdownNow();
        }
        return talk.end().code();
    }

    /** A connection that is cut takes its calls with it. */
    @Test
    void aCutConnectionEndsItsCalls() throws Exception {
        try (RateLimiter decides = Backends.limiter(false);
                CallSite site = CallSite.start(decides, RULES, (message, to) -> null)) {
            for (int i = 0; i < 10; i++) {
                site.vote("waits");
            }
            Await.until("ten are in flight", () -> site.taken("flight", IN_FLIGHT) == 10);
            site.channel.shutdownNow();
            Await.until("none is in flight", () -> site.taken("flight", IN_FLIGHT) == 0);
            assertEquals(10, site.taken("refunded", 10_000_000), "who leaves early is counted");
        }
    }
}
