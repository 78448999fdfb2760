package io.limiter.example.site.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class VisitorsTest {
    private static final LabLimits LIMITS = new LabLimits(10, 5_000, 10);

    private final Visitors visitors = new Visitors();

    @Test
    void theOneThatCameLongestAgoIsForgotten() {
        Visitor first = visitors.visitor("first", LIMITS);
        visitors.visitor("second", LIMITS);
        for (int i = 2; i < Visitors.MOST; i++) {
            visitors.visitor("visitor " + i, LIMITS);
        }
        assertSame(first, visitors.known("first").orElseThrow());

        visitors.visitor("one more", LIMITS);

        assertTrue(visitors.known("second").isEmpty());
        assertSame(first, visitors.visitor("first", LIMITS));
    }

    @Test
    void whoComesBackAfterwardsIsInAnotherRound() {
        long before = visitors.visitor("first", LIMITS).round();
        for (int i = 0; i < Visitors.MOST; i++) {
            visitors.visitor("visitor " + i, LIMITS);
        }
        assertNotEquals(before, visitors.visitor("first", LIMITS).round());
    }

    @Test
    void otherLimitsAreAnotherRoundWithKeysOfItsOwn() {
        Visitor visitor = visitors.visitor("first", LIMITS);
        long round = visitor.round();
        String key = visitor.key().canonical();
        visitor.note(round, 0, List.of());

        visitors.visitor("first", LabLimits.of(3L, 10_000L, 5L));
        visitor.note(round, 1, List.of());

        assertEquals(0, visitor.since(visitor.round(), 0).count(), "the verdicts of the old limits came too late");
        assertNotEquals(key, visitor.key().canonical());
    }

    @Test
    void limitsOfACookieAreCheckedAsThoseOfARequest() {
        assertEquals(LIMITS, LabLimits.parse("10-5000-10").orElseThrow());
        for (String text : List.of("", "10-5000", "0-5000-10", "10-5000-10001", "10-1-10", "a-b-c", "10-5000-10-1")) {
            assertTrue(LabLimits.parse(text).isEmpty(), text);
        }
        assertTrue(LabLimits.parse(null).isEmpty());
    }

    @Test
    void theFirstLimitsAreThoseOfTheVoteAsFarAsTheyCanBeKept() {
        assertEquals(new LabLimits(3, 10_000, 3), LabLimits.like(Limit.slidingList(3, Duration.ofSeconds(10))));
        assertEquals(
                new LabLimits(10_000, 60_000, 10_000), LabLimits.like(Limit.fixedWindow(20_000, Duration.ofDays(1))));
        assertEquals(new LabLimits(1, 500, 1), LabLimits.like(Limit.tokenBucket(0, Duration.ofMillis(1))));
    }
}
