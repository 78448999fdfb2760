package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Settlement;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.KeyHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens of holds: what they settle, and which are refused. */
class HoldTokensTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int ID = 1;
    private static final int PERMITS = 6;
    private static final int END = 7;

    private final ManualTimer timer = new ManualTimer();
    private final SettlingBackend backend = new SettlingBackend(timer.time);
    private final RateLimiter limiter =
            RateLimiters.builder(backend).timer(timer).build();

    private static Policy bucket(long permits) {
        return of(Limit.tokenBucket(permits, MINUTE));
    }

    private static Policy of(Limit limit) {
        return Policy.of("p", limit).withHolds(100).withFailureMode(FailureMode.DENY);
    }

    private long left(Policy policy) {
        return limiter.tryAcquire(PermitRequest.of(policy, KEY, 0).withLook()).remaining();
    }

    private static List<String> fields(String token) {
        String text = token.substring(2, token.lastIndexOf('.'));
        return new ArrayList<>(
                List.of(new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split("\n", -1)));
    }

    /** With the checksum that anybody can make. */
    private static String forged(List<String> fields) {
        String text = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(String.join("\n", fields).getBytes(StandardCharsets.UTF_8));
        return "1." + text + "." + KeyHash.PLAIN.of("hold:" + text);
    }

    private static String with(String token, int field, String value) {
        List<String> fields = fields(token);
        fields.set(field, value);
        return forged(fields);
    }

    @Test
    void whatATokenNamesIsNoCallToRefund() {
        Policy policy = bucket(10);
        limiter.announce(policy);
        String token = limiter.reserve(policy, KEY, 6, MINUTE).token();
        for (int i = 0; i < 3; i++) {
            assertFalse(limiter.refund(limiter.hold(token).decision()));
        }
        assertEquals(4, left(policy));
    }

    /** Of an override or a tenant: the announced limits would fill the bucket again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void limitsThatWereNotThePolicysOwnAreKept(boolean byToken) {
        limiter.announce(bucket(1_000));
        Policy lowered = bucket(10);
        Hold hold = limiter.reserve(lowered, KEY, 10, MINUTE);
        timer.time.advance(Duration.ofSeconds(6));
        assertEquals(Settlement.SETTLED, limiter.settle(byToken ? limiter.hold(hold.token()) : hold, 10));
        assertEquals(1, left(lowered), "what has refilled in 6 s");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thePolicysOwnLimitsAreThoseInForce(boolean byToken) {
        limiter.announce(bucket(1_000));
        Hold hold = limiter.reserve(bucket(1_000), KEY, 10, MINUTE);
        String token = hold.token();
        Policy now = bucket(20);
        limiter.announce(now);
        assertEquals(Settlement.SETTLED, limiter.settle(byToken ? limiter.hold(token) : hold, 10));
        assertEquals(20, backend.settled.get(0).outcomes().get(0).limit().permits());
        assertTrue(left(now) <= 20);
    }

    /** Two keys of one policy, with limits of their own that differ, one in calendar time and one with a state of its own. */
    @Test
    void aTokenTellsSuchLimitsExactly() {
        limiter.announce(bucket(1_000));
        Limit daily = Limit.fixedWindow(30, Duration.ofDays(1)).withZone(ZoneId.of("Europe/Rome"));
        Limit named = Limit.tokenBucket(50, MINUTE, 70).withName("mine");
        PartitionKey other = PartitionKey.of("other");
        List<Charge> charges = List.of(new Charge(of(daily), KEY, 20), new Charge(of(named), other, 60));
        Hold hold = limiter.reserve(charges, MINUTE);
        assertTrue(hold.allowed());
        Hold read = limiter.hold(hold.token());
        assertEquals(
                List.of(daily.spec(), named.spec()),
                read.decision().outcomes().stream()
                        .map(outcome -> outcome.limit().spec())
                        .toList());
        assertEquals(hold.token(), read.token());
        assertEquals(
                Settlement.SETTLED, limiter.settle(read, charge -> charge.key().equals(KEY) ? 5 : 7));
        assertEquals(25, left(of(daily)));
    }

    /** The share of this instance is settled where it lies, and as a share. */
    @Test
    void aTokenOfTheLocalShareIsSettledInIt() {
        InProcessBackend local =
                InProcessBackend.builder().timeSource(timer.time).build();
        RateLimiter shared = RateLimiters.builder(backend)
                .fallback(local)
                .instances(4)
                .timer(timer)
                .build();
        Policy policy = bucket(1_000).withFailureMode(FailureMode.LOCAL);
        shared.announce(policy);
        backend.isDown = true;
        Hold hold = shared.reserve(policy, KEY, 100, MINUTE);
        assertTrue(hold.allowed());
        assertEquals(Settlement.SETTLED, shared.settle(shared.hold(hold.token()), 40));
        assertEquals(List.of(), backend.settled);
        assertEquals(210, shared.tryAcquire(policy, KEY, 0).remaining());
        assertEquals(Settlement.HELD_ELSEWHERE, limiter.settle(limiter.hold(hold.token()), 40));
    }

    @Test
    void aDeniedHoldHasNothingToSettle() {
        Policy policy = bucket(10);
        limiter.announce(policy);
        Hold denied = limiter.reserve(policy, KEY, 11, MINUTE);
        Hold read = limiter.hold(denied.token());
        assertFalse(read.allowed());
        assertEquals(Settlement.SETTLED, limiter.settle(read, 9));
        assertEquals(List.of(), backend.settled);
        assertEquals(10, left(policy));
    }

    @Test
    void aLimitThatGrantsNothingHoldsNothing() {
        limiter.announce(bucket(10));
        String token = limiter.reserve(bucket(10), KEY, 5, MINUTE).token();
        limiter.announce(bucket(0));
        assertEquals(Settlement.UNKNOWN, limiter.settle(limiter.hold(token), 3));
        assertEquals(List.of(), backend.settled);
    }

    @Test
    void whatHoldsNothingIsNoToken() {
        limiter.announce(bucket(10));
        String token = limiter.reserve(bucket(10), KEY, 5, MINUTE).token();
        assertEquals(token, forged(fields(token)));
        for (String bad : List.of(
                with(token, PERMITS, "0"),
                with(token, PERMITS, "-1"),
                with(token, PERMITS, "x"),
                with(token, END, "0"),
                with(token, END + 1, "10/1 m"),
                with(token, END + 1, "10/1h fixed aligned Nowhere/Else"),
                with(token, END + 1, "10/1m distinct?"),
                with(token, ID, "1"))) {
            assertThrows(IllegalArgumentException.class, () -> limiter.hold(bad), bad);
        }
    }

    /** Who makes tokens must not decide how long they are tried again. */
    @Test
    void aForgedTokenIsNotTriedAgainForLong() {
        limiter.announce(bucket(10));
        String token = limiter.reserve(bucket(10), KEY, 5, MINUTE).token();
        String long1 = Long.toString(HoldTerms.LONGEST.toNanos() / 1_000);
        List<String> fields = fields(with(token, ID + 1, long1));
        fields.set(ID + 2, long1);
        backend.isSilent = true;
        assertEquals(Settlement.PENDING, limiter.settle(limiter.hold(forged(fields)), 3));
        assertTrue(timer.size() > 0);
        timer.advance(MINUTE.toNanos() / 1_000 + 1_000_000);
        assertEquals(0, timer.size(), "after what this instance keeps it is lost");
    }

    @Test
    void twoChargesToOneStateAreRefused() {
        Policy policy = bucket(10);
        Charge one = new Charge(policy, KEY, 1);
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(one, one), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserveAsync(List.of(one, one), MINUTE));
        assertEquals(10, left(policy));
    }

    @Test
    void idsDiffer() {
        assertEquals(
                1_000,
                IntStream.range(0, 1_000)
                        .mapToObj(i -> HoldTerms.newId())
                        .distinct()
                        .count());
    }
}
