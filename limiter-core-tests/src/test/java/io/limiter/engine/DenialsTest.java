package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.LimiterMonitor.DeniedKey;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.KeyHash;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The log lines of denials, and the keys that are denied most. */
@Isolated("measures the heap")
class DenialsTest {
    private static final String CODE = "RL-405 ";
    private static final Policy NOBODY = Policy.of("nobody", Limit.fixedWindow(0, Duration.ofHours(1)));
    /** Few enough for each denial to be noted. */
    private static final Duration SLOW = Duration.ofNanos(200_000);

    private final LogLines log = new LogLines("io.limiter.Denials", Level.INFO).ofThreads();
    private final ManualTime time = new ManualTime();
    private final DenialRecord denials = new DenialRecord(time);
    private final RateLimiter limiter = RateLimiters.on(Backends.inProcess(time));

    @AfterEach
    void close() {
        log.close();
        limiter.close();
    }

    private List<String> lines() {
        return log.of(Level.INFO, CODE);
    }

    private static Decision denial(Policy policy, PartitionKey key) {
        Charge charge = new Charge(policy, key, 1);
        return Decision.of(
                Decision.Source.REDIS,
                LimitOutcome.of(charge, policy.limits().get(0), false, 0, 9_500_000, 9_500_000, 9_500_000, 0));
    }

    private void deny(String key) {
        denials.add(denial(NOBODY, PartitionKey.of(key)), false, Runnable::run);
    }

    @Test
    void aLineSaysRulePolicyLimitKeyAndWait() {
        denials.register((policy, shadow) -> List.of("login" + (shadow ? "-try" : "")).stream());
        deny("192.0.2.1");
        assertEquals(
                "RL-405 denied: rule login, policy nobody, limit '0/1h fixed name nobody', key 192.0.2.1, wait PT9.5S,"
                        + " source redis; denials not logged since the last line: 0",
                lines().get(0));
        time.advance(Duration.ofSeconds(1));
        denials.add(denial(NOBODY, PartitionKey.of("a")), true, Runnable::run);
        assertTrue(lines().get(1).startsWith("RL-405 would be denied (shadow): rule login-try,"), lines().get(1));
    }

    @Test
    void linesAreBoundedPerSecondAndTheRestIsCounted() {
        denials.configure(2, 10);
        for (int i = 0; i < 10_000; i++) {
            deny("key-" + i);
            time.advance(Duration.ofMillis(1));
        }
        assertEquals(20, lines().size(), "two in each of ten seconds");
        assertTrue(lines().get(1).endsWith("since the last line: 499"), lines().get(1));
        denials.configure(0, 10);
        for (int i = 0; i < 100; i++) {
            deny("key");
            time.advance(Duration.ofSeconds(1));
        }
        assertEquals(20, lines().size());
    }

    /** Text of clients is in keys only, which are encoded; a secret is a hash. */
    @Test
    void noClientWritesALineOrASecretIntoTheLog() {
        PartitionKey key = PartitionKey.builder()
                .add("user", "eve\r\nRL-405 denied: rule x\u001b[2J\u2028")
                .addSecret("header.x-api-key", "s3cr3t", KeyHash.PLAIN)
                .build();
        denials.add(denial(NOBODY, key), false, Runnable::run);
        String line = lines().get(0);
        assertTrue(line.matches("[ -~]+"), line);
        assertTrue(line.contains("key " + key.canonical() + ","), line);
        assertFalse(line.contains("s3cr3t"), line);
        assertEquals(key, PartitionKey.parse(denials.busiest(1).get(0).key().canonical()), "it can be looked up");
    }

    @Test
    void aVeryLongKeyIsKeptAsItsHash() {
        PartitionKey key = PartitionKey.of(Collections.nCopies(1_000, "part"));
        denials.add(denial(NOBODY, key), false, Runnable::run);
        assertTrue(denials.busiest(1).get(0).key().canonical().matches("~[0-9a-f]{32}"));
        assertTrue(lines().get(0).length() < 300, lines().get(0));
    }

    @Test
    void theBusiestComeFirstEachWithWhatIsLeftOfItsWait() {
        for (int i = 0; i < 9; i++) {
            deny(i < 6 ? "busy" : i < 8 ? "less" : "once");
            time.advance(Duration.ofSeconds(1));
        }
        denials.add(denial(NOBODY, PartitionKey.of("busy")), true, Runnable::run);
        List<DeniedKey> all = denials.busiest(10);
        assertEquals(
                List.of("busy", "less"),
                denials.busiest(2).stream().map(one -> one.key().canonical()).toList());
        assertEquals(
                List.of(6L, 2L, 1L, 1L), all.stream().map(DeniedKey::denied).toList());
        assertEquals(Duration.ofSeconds(4), all.get(0).sinceLast());
        assertEquals(Duration.ofMillis(5_500), all.get(0).retryAfter());
        assertEquals("0/1h fixed name nobody", all.get(0).limit());
        assertEquals(Decision.Source.REDIS, all.get(0).source());
        assertEquals(1, all.stream().filter(DeniedKey::shadow).count(), "shadow denials are separate");
        time.advance(Duration.ofSeconds(30));
        assertEquals(Duration.ZERO, denials.busiest(1).get(0).retryAfter());
    }

    @Test
    void whatIsLongAgoIsForgotten() {
        deny("a");
        time.advance(Duration.ofMinutes(6));
        deny("b");
        assertEquals(2, denials.busiest(10).size());
        time.advance(Duration.ofMinutes(6));
        assertEquals(
                List.of("b"),
                denials.busiest(10).stream().map(one -> one.key().canonical()).toList());
        time.advance(Duration.ofMinutes(6));
        assertEquals(List.of(), denials.busiest(10));
    }

    @Test
    void aDenialIsOfTheLongestWaitAndWhereNobodyCouldCountOfTheFirstCharge() {
        Policy other = Policy.of("other", Limit.fixedWindow(1, Duration.ofHours(1)));
        PartitionKey key = PartitionKey.of("a");
        Charge one = new Charge(NOBODY, key, 1);
        Charge longer = new Charge(other, key, 1);
        denials.add(Decision.of(Decision.Source.FAILED_CLOSED, List.of(one, longer), List.of()), false, Runnable::run);
        DeniedKey first = denials.busiest(10).get(0);
        assertEquals("nobody", first.policy());
        assertNull(first.limit());
        assertTrue(lines().get(0).contains("policy nobody, limit unknown"), lines().get(0));
        time.advance(Duration.ofSeconds(1));
        denials.add(
                Decision.of(
                        Decision.Source.REDIS,
                        List.of(one, longer),
                        List.of(
                                LimitOutcome.of(one, NOBODY.limits().get(0), false, 0, 5, 5, 5, 0),
                                LimitOutcome.of(longer, other.limits().get(0), false, 0, 6, 6, 6, 0))),
                false,
                Runnable::run);
        assertEquals(2, denials.busiest(10).size());
        assertTrue(lines().get(1).contains("policy other, limit '1/1h"), lines().get(1));
    }

    /** A flood of one thread is sampled: the busiest key is found, with about the right count. */
    @Test
    void aFloodIsSampled() {
        int flood = 1_000_000;
        for (int i = 0; i < flood; i++) {
            deny(i % 2 == 0 ? "busy" : "key-" + i);
            if (i % 1_000 == 0) {
                time.advance(Duration.ofMillis(1));
            }
        }
        DeniedKey busiest = denials.busiest(1).get(0);
        assertEquals("busy", busiest.key().canonical());
        assertEquals(flood / 2.0, busiest.denied(), flood / 10.0);
        // One in 64 is looked at until the end of the flood is seen.
        time.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 20 * DenialRecord.SAMPLED; i++) {
            deny("last of the flood");
            time.advance(Duration.ofMillis(1));
        }
        deny("afterwards");
        assertTrue(denials.busiest(500).stream()
                .anyMatch(one -> one.key().canonical().equals("afterwards")));
    }

    /** Busy keys among a spray of others: each is there, none with more denials than it had, and none with much fewer. */
    @Test
    void aSprayDisplacesNoBusyKey() {
        SplittableRandom random = new SplittableRandom(18);
        Map<String, Long> exact = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            String key = random.nextInt(5) == 0 ? "busy-" + random.nextInt(10) : "spray-" + random.nextInt();
            exact.merge(key, 1L, Long::sum);
            deny(key);
            time.advance(SLOW);
        }
        List<DeniedKey> found = denials.busiest(Integer.MAX_VALUE);
        assertEquals(LimiterMonitor.DEFAULT_KEYS, found.size());
        for (DeniedKey one : found) {
            assertTrue(one.denied() <= exact.get(one.key().canonical()), one.toString());
        }
        for (DeniedKey one : found.subList(0, 10)) {
            String key = one.key().canonical();
            assertTrue(key.startsWith("busy-"), key);
            assertTrue(one.denied() > exact.get(key) * 9 / 10, one.denied() + " of " + exact.get(key));
        }
    }

    @Test
    void manyDifferentKeys() throws InterruptedException {
        assertBounded(Repeats.of(100_000, 300_000));
    }

    @Test
    @Tag("soak")
    void tenMillionDifferentKeys() throws InterruptedException {
        assertBounded(10_000_000);
    }

    private void spray(int first, int different) {
        for (int i = first; i < first + different; i++) {
            deny("client-number-" + i);
            if (i % 20 == 0) {
                deny("heavy");
            }
            time.advance(SLOW);
        }
    }

    private void assertBounded(int different) throws InterruptedException {
        long before = used();
        // The lines are made, and nobody keeps them.
        int threads = 8;
        try (LogLines quiet = new LogLines("io.limiter.Denials", Level.WARN).ofThreads()) {
            // One after the other, so that each denial is noted.
            for (int t = 0; t < threads; t++) {
                int first = t * (different / threads);
                Thread thread = new Thread(() -> spray(first, different / threads));
                thread.start();
                thread.join();
            }
            assertEquals("", quiet.toString());
        }
        List<DeniedKey> found = denials.busiest(Integer.MAX_VALUE);
        assertTrue(found.size() <= LimiterMonitor.DEFAULT_KEYS, found.size() + " keys");
        assertEquals("heavy", found.get(0).key().canonical());
        long grown = used() - before;
        System.out.printf(
                "%d different denied keys, each denial noted: table and log sampler hold %d kB%n",
                different, grown / 1_000);
        assertTrue(grown < 1_000_000, grown + " bytes");
        assertEquals(found.get(0), denials.busiest(1).get(0));
    }

    private static long used() {
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void threadsMayDenyAndLookAtOnce() throws Exception {
        DenialRecord shared = new DenialRecord(TimeSource.system());
        AtOnce.run(8, thread -> {
            for (int i = 0; i < 20_000; i++) {
                shared.add(denial(NOBODY, PartitionKey.of("k" + i % 300)), false, Runnable::run);
                if (i % 1_000 == 0) {
                    assertTrue(shared.busiest(20).size() <= 20);
                    shared.configure(1, i % 2_000 == 0 ? 50 : 100);
                }
            }
        });
        assertFalse(shared.busiest(20).isEmpty());
    }

    /** Filter, annotation and code ask the same limiter, each in one of these ways. */
    @Test
    void everyWayOfAskingIsNotedAndALookIsNot() {
        PartitionKey key = PartitionKey.of("a");
        List<Charge> one = List.of(new Charge(NOBODY, key, 1));
        Policy other = Policy.of("other", Limit.fixedWindow(5, Duration.ofHours(1)));
        limiter.tryAcquire(PermitRequest.of(one).withLook());
        limiter.tryAcquire(other, key, 1);
        assertEquals(List.of(), limiter.monitor().busiest(10));
        limiter.tryAcquire(NOBODY, key, 1);
        limiter.tryAcquire(PermitRequest.of(List.of(new Charge(NOBODY, key, 1), new Charge(other, key, 1))));
        limiter.acquireAsync(PermitRequest.of(one)).join();
        limiter.acquireEachAsync(PermitRequest.each(one)).get(0).join();
        limiter.acquireAsync(PermitRequest.of(one).withShadow()).join();
        List<DeniedKey> all = limiter.monitor().busiest(10);
        assertEquals(List.of(4L, 1L), all.stream().map(DeniedKey::denied).toList());
        assertEquals(List.of(false, true), all.stream().map(DeniedKey::shadow).toList());
        assertEquals("nobody", all.get(0).policy());
    }

    @Test
    void aLimiterNamesItsRulesAndAppliesItsSettingsAlsoReplacedOnes() {
        Map<String, String> rules = new HashMap<>(Map.of(
                "limiter.policies.shared.limits", "0/1h",
                "limiter.rules.one.path", "/one",
                "limiter.rules.one.policy", "shared",
                "limiter.rules.two.path", "/two",
                "limiter.rules.two.policy", "shared",
                "limiter.rules.tried.path", "/three",
                "limiter.rules.tried.shadow", "true",
                "limiter.rules.tried.policy", "shared"));
        LimiterConfig config = LimiterConfig.builder().properties("test", rules).build();
        rules.putAll(Map.of("limiter.denials.log-per-second", "0", "limiter.denials.keys", "1"));
        Limiter configured =
                Limiter.of(LimiterConfig.builder().properties("test", rules).build(), limiter);
        PartitionKey key = PartitionKey.of("a");
        configured.tryAcquire("shared", key, 1);
        configured.tryAcquire("shared", PartitionKey.of("b"), 1);
        assertEquals(List.of(), lines());
        List<DeniedKey> found = limiter.monitor().busiest(10);
        assertEquals(1, found.size());
        assertEquals(Set.of("one", "two"), Set.copyOf(found.get(0).rules()));

        configured.replace(config);
        configured.tryAcquire("shared", key, 1);
        assertEquals(1, lines().size());
        assertTrue(lines().get(0).contains(" or "), lines().get(0));
        limiter.acquireAsync(
                PermitRequest.of(configured.policy("shared"), key, 1).withShadow());
        assertEquals(
                List.of("tried"),
                limiter.monitor().busiest(10).stream()
                        .filter(DeniedKey::shadow)
                        .findFirst()
                        .orElseThrow()
                        .rules());
    }
}
