package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Facts;
import io.limiter.kit.Looks;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The configuration is replaced while annotated methods are called. Runs proxied and woven. */
class ReplaceTest {
    private static final int REPLACEMENTS = 200;
    private static final int CALLERS = 4;
    private static final long MANY = 1_000_000_000L;

    static class Service {
        @RateLimited(value = "steady", key = "#who")
        public String steady(String who) {
            return "done";
        }

        @RateLimited(value = "steady", key = "#who")
        public Mono<String> steadyMono(String who) {
            return Mono.just("done");
        }

        @RateLimited(value = "named", key = "#who")
        public String named(String who) {
            return "done";
        }

        @RateLimited(limits = "1000000/1d fixed", key = "#who", name = "own")
        public String own(String who) {
            return "done";
        }

        @RateLimited(value = "named", key = "#who")
        public Mono<String> mono(String who) {
            return Mono.just("done");
        }
    }

    static class Costly {
        @RateLimited(value = "named", key = "#who", permits = "2")
        public String costly(String who) {
            return "done";
        }
    }

    private static String named(long permits) {
        return "limiter.policies.named.limits = " + permits + "/1d fixed\nlimiter.policies.steady.limits = "
                + (MANY + permits) + "/1d fixed\n";
    }

    private static Limiter limiter() {
        return Limiter.start(App.config(named(MANY)));
    }

    private static long used(Limiter limiter, String policy, String who) {
        return limiter.policies().get(policy).limits().get(0).permits()
                - Looks.left(
                        limiter.rateLimiter(),
                        limiter.policies().get(policy),
                        PartitionKey.builder().add("key", who).build());
    }

    @Test
    void twoHundredTimesUnderLoadNoCallFailsAndNothingIsForgotten() throws Exception {
        try (Limiter limiter = limiter();
                Limited<Service> limited = Limited.of(Service.class, limiter)) {
            Service service = limited.object();
            AtomicBoolean ended = new AtomicBoolean();
            AtomicLong calls = new AtomicLong();
            AtOnce.run(CALLERS + 1, thread -> {
                while (thread > 0 && !ended.get()) {
                    service.steady("load");
                    service.own("load");
                    service.steadyMono("load").block();
                    calls.incrementAndGet();
                }
                if (thread == 0) {
                    try {
                        replaceOften(limiter, service);
                    } finally {
                        ended.set(true);
                    }
                }
            });
            assertTrue(calls.get() > 0);
            assertEquals(2 * calls.get(), used(limiter, "steady", "load"));
            assertEquals(calls.get(), used(limiter, "own", "load"));
        }
    }

    private static void replaceOften(Limiter limiter, Service service) {
        for (int i = 1; i <= REPLACEMENTS; i++) {
            limiter.replace(App.config(named(i % 2 == 0 ? MANY : 1)));
            String who = "client " + i;
            assertEquals("done", service.named(who));
            assertEquals(i % 2 == 0, App.passes(() -> service.named(who)), "in force at once");
            limiter.replace(App.config(named(MANY + i)));
            assertEquals("done", service.named(who), "and no longer");
        }
    }

    @Test
    void aSubscriptionSeesThePolicyOfNow() throws Exception {
        try (Limiter limiter = limiter();
                Limited<Service> limited = Limited.of(Service.class, limiter)) {
            Mono<String> kept = limited.object().mono("kept");
            assertTrue(App.passes(() -> kept));
            limiter.replace(App.config(named(1)));
            assertEquals(0, App.passes(1, () -> kept));
            limiter.replace(App.config(named(2)));
            assertEquals(1, App.passes(2, () -> kept));
        }
    }

    @Test
    void whatDoesNotFitTheAnnotationsIsRefused() throws Exception {
        try (Limiter limiter = limiter();
                Limited<Service> limited = Limited.of(Service.class, limiter);
                Limited<Costly> costly = Limited.of(Costly.class, limiter)) {
            Service service = limited.object();
            String here = ReplaceTest.class.getName() + "$";
            service.named("who");
            costly.object().costly("who");
            service.own("who");
            assertRefused(limiter, "limiter.policies.other.limits = 9/1s", "RL-120", here, "no policy", "[other]");
            assertRefused(
                    limiter, named(1), "RL-132", here + "Costly.costly(String)", "2", "'named'", "lower", "raise");
            assertRefused(limiter, named(9) + "limiter.policies.own.limits = 9/1s", "RL-151", "'own'");
            assertEquals(MANY, limiter.policy("named").limits().get(0).permits());
            assertEquals(3, used(limiter, "named", "who"));
        }
        try (Limiter limiter = limiter()) {
            Limited.of(Service.class, limiter).close();
            limiter.replace(App.config("limiter.policies.other.limits = 9/1s"));
            assertEquals(9, limiter.policy("other").limits().get(0).permits(), "closed ones have no say");
        }
    }

    private static void assertRefused(Limiter limiter, String config, String code, String... facts) {
        RuntimeException refused = assertThrows(RuntimeException.class, () -> limiter.replace(App.config(config)));
        Facts.told(refused.getMessage(), code, facts);
    }
}
