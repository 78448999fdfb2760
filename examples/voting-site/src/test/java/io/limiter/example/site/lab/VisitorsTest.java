package io.limiter.example.site.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class VisitorsTest {
    private final Visitors visitors = new Visitors();

    @Test
    void theOneThatCameLongestAgoIsForgotten() {
        Visitor first = visitors.visitor("first", LabLimits.DEFAULT);
        visitors.visitor("second", LabLimits.DEFAULT);
        for (int i = 2; i < Visitors.MOST; i++) {
            visitors.visitor("visitor " + i, LabLimits.DEFAULT);
        }
        assertSame(first, visitors.known("first").orElseThrow());

        visitors.visitor("one more", LabLimits.DEFAULT);

        assertTrue(visitors.known("second").isEmpty());
        assertSame(first, visitors.visitor("first", LabLimits.DEFAULT));
    }

    @Test
    void whoComesBackAfterwardsIsInAnotherRound() {
        long before = visitors.visitor("first", LabLimits.DEFAULT).round();
        for (int i = 0; i < Visitors.MOST; i++) {
            visitors.visitor("visitor " + i, LabLimits.DEFAULT);
        }
        assertNotEquals(before, visitors.visitor("first", LabLimits.DEFAULT).round());
    }

    @Test
    void otherLimitsAreAnotherRoundWithKeysOfItsOwn() {
        Visitor visitor = visitors.visitor("first", LabLimits.DEFAULT);
        long round = visitor.round();
        String key = visitor.key().canonical();
        visitor.note(round, 0, List.of());

        visitors.visitor("first", LabLimits.of(3L, 10_000L, 5L));
        visitor.note(round, 1, List.of());

        assertEquals(0, visitor.since(visitor.round(), 0).count(), "what the old limits said came too late");
        assertNotEquals(key, visitor.key().canonical());
    }

    @Test
    void limitsOfACookieAreCheckedAsThoseOfARequest() {
        assertEquals(LabLimits.DEFAULT, LabLimits.parse("10-5000-10").orElseThrow());
        for (String text : List.of("", "10-5000", "0-5000-10", "10-5000-10001", "10-1-10", "a-b-c", "10-5000-10-1")) {
            assertTrue(LabLimits.parse(text).isEmpty(), text);
        }
        assertTrue(LabLimits.parse(null).isEmpty());
    }
}
