package io.limiter.servlet.rejection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.Algorithm;
import io.limiter.internal.config.HttpSettings.Headers;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Configs;
import io.limiter.kit.Repeats;
import io.limiter.servlet.FakeExchange;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.greenbytes.http.sfv.ListElement;
import org.greenbytes.http.sfv.Parametrizable;
import org.greenbytes.http.sfv.Parser;
import org.junit.jupiter.api.Test;

/** Somebody else's parser of structured fields reads what is sent for random policies and decisions. */
class StructuredFieldsTest {
    private static final int CASES = Repeats.of(3_000, 10_000);
    private static final BigDecimal MOST = new BigDecimal("999999999999999");
    private static final Clock CLOCK = Clock.fixed(Instant.ofEpochSecond(1_700_000_000), ZoneOffset.UTC);

    private static final List<Algorithm> ALGORITHMS =
            AnyAlgorithm.limits().stream().filter(Algorithm::isShareable).toList();

    private final SplittableRandom random = new SplittableRandom(9_651);

    @Test
    void draft10GivesBackEveryNumber() throws IOException {
        int items = 0;
        int denied = 0;
        for (int i = 0; i < CASES; i++) {
            Decision decision = decision();
            FakeExchange answer = answer(decision, Headers.DRAFT_10);

            Map<String, Map<String, Long>> policies = list(answer.all("RateLimit-Policy"));
            Map<String, Map<String, Long>> values = list(answer.all("RateLimit"));

            assertEquals(decision.outcomes().size(), policies.size());
            assertEquals(List.copyOf(policies.keySet()), List.copyOf(values.keySet()));
            long retryAfter = answer.all("Retry-After").isEmpty()
                    ? Long.MAX_VALUE
                    : Long.parseLong(answer.all("Retry-After").get(0));
            for (LimitOutcome outcome : decision.outcomes()) {
                String name = outcome.limit().name();
                assertEquals(quota(outcome.limit()), policies.get(name));
                Map<String, Long> expected = new TreeMap<>(Map.of("r", clamped(outcome.remaining())));
                long t = seconds(outcome.nextMicros());
                if (t > 0 && !never(decision) && (decision.allowed() || !outcome.allowed() || t <= retryAfter)) {
                    expected.put("t", t);
                }
                assertEquals(expected, values.get(name));
                assertTrue(values.get(name).getOrDefault("t", 0L) <= retryAfter || decision.allowed());
                items++;
            }
            denied += decision.allowed() ? 0 : 1;
        }
        assertTrue(items > CASES && denied > CASES / 4 && denied < CASES, items + " items, " + denied + " denied");
    }

    @Test
    void xRateLimitGivesBackTheNumbersOfTheLimitThatBinds() throws IOException {
        for (int i = 0; i < CASES; i++) {
            Decision decision = decision();
            Map<String, Long> expected = numbers(decision);
            FakeExchange legacy = answer(decision, Headers.X_RATELIMIT);
            expected.forEach((key, number) -> {
                String name = "X-RateLimit-" + Character.toUpperCase(key.charAt(0)) + key.substring(1);
                boolean never = never(decision);
                long since = key.equals("reset") ? 1_700_000_000 : 0;
                assertEquals(
                        key.equals("reset") && never ? List.of() : List.of(Math.min(MOST.longValue(), number + since)),
                        items(legacy.all(name)));
            });
        }
    }

    /** For such a request no time is sent, and no field that needs one. */
    private static boolean never(Decision decision) {
        return !decision.allowed() && decision.retryAfterMicros() == LimitOutcome.NEVER;
    }

    private static Map<String, Long> numbers(Decision decision) {
        LimitOutcome binding = decision.binding().orElseThrow();
        long reset = decision.allowed() ? binding.resetMicros() : decision.retryAfterMicros();
        return new TreeMap<>(Map.of(
                "limit",
                clamped(binding.limit().capacity()),
                "remaining",
                clamped(binding.remaining()),
                "reset",
                seconds(reset)));
    }

    private static List<Object> items(List<String> lines) {
        return lines.stream().<Object>map(line -> Parser.parseItem(line).get()).toList();
    }

    /** The members of a list of Strings, with their parameters, which are all numbers. */
    private static Map<String, Map<String, Long>> list(List<String> lines) {
        Map<String, Map<String, Long>> members = new LinkedHashMap<>();
        for (ListElement<?> element : new Parser(lines).parseList().get()) {
            Map<String, Long> parameters = new TreeMap<>();
            ((Parametrizable<?>) element).getParams().forEach((key, value) -> parameters.put(key, (Long) value.get()));
            members.put((String) element.get(), parameters);
        }
        return members;
    }

    /** The fields that the draft requires for the limit, computed independently. */
    private static Map<String, Long> quota(Limit limit) {
        Map<String, Long> quota = new TreeMap<>(Map.of("q", clamped(limit.capacity())));
        BigDecimal period = BigDecimal.valueOf(limit.periodMicros(), 6);
        if (limit.algorithm() != Algorithm.TOKEN_BUCKET) {
            if (period.stripTrailingZeros().scale() <= 0) {
                quota.put("w", period.longValueExact());
            }
        } else if (limit.permits() > 0) {
            BigDecimal toFill = BigDecimal.valueOf(limit.burst())
                    .multiply(period)
                    .divide(BigDecimal.valueOf(limit.permits()), 30, RoundingMode.CEILING);
            if (toFill.compareTo(new BigDecimal("0.999999")) > 0) {
                quota.put(
                        "w", toFill.setScale(0, RoundingMode.CEILING).min(MOST).longValueExact());
            }
        }
        return quota;
    }

    private static long seconds(long micros) {
        return BigDecimal.valueOf(micros, 6)
                .setScale(0, RoundingMode.CEILING)
                .min(MOST)
                .longValueExact();
    }

    private static long clamped(long number) {
        return BigDecimal.valueOf(number).min(MOST).longValueExact();
    }

    private static FakeExchange answer(Decision decision, Headers headers) {
        String words = headers.name().toLowerCase(Locale.ROOT).replace('_', '-');
        LimiterConfig config = Configs.of("limiter.http.headers = " + words);
        return HeaderVectorsTest.answered(config, decision, CLOCK);
    }

    /** Of one to three policies of one to three limits each, with any numbers that a backend could give. */
    private Decision decision() {
        List<Charge> charges = new ArrayList<>();
        List<LimitOutcome> outcomes = new ArrayList<>();
        int policies = random.nextInt(1, 4);
        boolean mayDeny = random.nextBoolean();
        for (int p = 0; p < policies; p++) {
            List<Limit> limits = new ArrayList<>();
            int count = random.nextInt(1, 4);
            for (int l = 0; l < count; l++) {
                limits.add(limit("p" + p + "-" + "._-aZ9".charAt(random.nextInt(6)) + l));
            }
            Policy policy = Policy.of("p" + p, limits).withFailureMode(FailureMode.LOCAL);
            Charge charge =
                    new Charge(policy, PartitionKey.of("client"), policy.takesMembers() ? 1 : random.nextInt(1, 9));
            charges.add(charge);
            charge.policy().limits().forEach(limit -> outcomes.add(outcome(charge, limit, mayDeny)));
        }
        return Decision.of(Decision.Source.IN_PROCESS, charges, outcomes);
    }

    private LimitOutcome outcome(Charge charge, Limit limit, boolean mayDeny) {
        boolean allowed = !mayDeny || random.nextBoolean();
        long remaining = random.nextInt(3) == 0 ? 0 : upTo(limit.capacity());
        long next = random.nextInt(5) == 0 ? 0 : upTo(limit.periodMicros());
        long reset = next + upTo(limit.periodMicros());
        long retryAfter = allowed ? 0 : random.nextInt(10) == 0 ? LimitOutcome.NEVER : Math.max(1, next) + upTo(reset);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, next, reset, 0);
    }

    private Limit limit(String name) {
        Algorithm algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        long period = random.nextBoolean()
                ? random.nextLong(1, 100_000) * 1_000_000
                : random.nextInt(4) == 0 ? Limit.MAX_PERIOD_MICROS : upTo(Limit.MAX_PERIOD_MICROS - 1) + 1;
        long most = algorithm.isLog() ? Limit.MAX_LOG_PERMITS : Limit.MAX_PERMITS;
        if (algorithm != Algorithm.TOKEN_BUCKET) {
            long permits = random.nextInt(20) == 0 ? 0 : random.nextInt(10) == 0 ? most : upTo(most);
            return AnyAlgorithm.limit(algorithm, permits, period).withName(name);
        }
        long permits = upTo(1_000);
        long parts = period / gcd(Math.max(1, permits), period);
        long burst = permits == 0 ? 0 : 1 + upTo(Math.max(0, (1L << 52) / parts - 1));
        return Limit.tokenBucket(permits, Duration.of(period, ChronoUnit.MICROS), burst)
                .withName(name);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    /** Of any length in bits, so that small numbers come as often as large ones. */
    private long upTo(long most) {
        long bits = random.nextInt(64 - Long.numberOfLeadingZeros(most) + 1);
        return Math.min(most, random.nextLong(1L << Math.min(62, bits)));
    }
}
