package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CongestionWindowTest {
    private static final long DEADLINE = 50_000;
    private static final long MINUTE = 60_000_000;

    private final CongestionWindow window = new CongestionWindow(DEADLINE, false);

    @Test
    void oneOfSeveralMastersHasOneCommandAtATimeUnlessItIsFarAway() {
        CongestionWindow beside = new CongestionWindow(DEADLINE, true);
        CongestionWindow.Flight first = beside.tryBegin(0);
        assertNull(beside.tryBegin(0));
        first.end();
        assertNotNull(beside.tryBegin(0));
        beside.answered(1, 600, false);
        assertNotNull(beside.tryBegin(1), "one arrives while another is on its way");
        assertNull(beside.tryBegin(1));
    }

    @Test
    void oneDelayHalvesItOnceHoweverManyCallsItMadeLate() {
        int before = window.size();
        for (int i = 0; i < 100; i++) {
            window.late(1_000 + i);
        }
        assertEquals(before / 2, window.size());
        window.late(1_000 + DEADLINE);
        assertEquals(before / 4, window.size());
    }

    @Test
    void itNeverGetsSmallerThanTheLeastAndSaysSo() {
        for (long now = 0; now < 20 * DEADLINE; now += DEADLINE) {
            window.late(now);
        }
        assertEquals(CongestionWindow.LEAST, window.size());
        assertTrue(window.isSmallest());
        window.reset();
        assertEquals(64, window.size());
    }

    @Test
    void aRoundOfQuickAnswersMakesItOneLargerWhereMoreWaitUpToTheMost() {
        int before = window.size();
        for (int i = 0; i < before + 1; i++) {
            window.answered(i, 100, true);
        }
        assertEquals(before + 1, window.size());
        for (int i = 0; i < 100_000; i++) {
            window.answered(i, 100, true);
        }
        assertEquals(CongestionWindow.MOST, window.size());
    }

    @Test
    void theWindowGrowsAndShrinksByQueueing() {
        int before = window.size();
        window.answered(0, 100, false);
        for (int i = 0; i < 1_000; i++) {
            window.answered(i, 100, false);
            window.answered(i, DEADLINE / 3, true);
        }
        assertEquals(before, window.size());
        window.answered(5_000, 100 + DEADLINE / 2 + 1, true);
        assertEquals(before / 2, window.size());
    }

    @Test
    void aNetworkFarAwayIsNoReasonToSendLess() {
        int before = window.size();
        for (int i = 0; i < 10_000; i++) {
            window.answered(i * 1_000L, 45_000 + i % 5_000, true);
        }
        assertTrue(window.size() > before, "it is " + window.size());
    }

    @Test
    void afterSomeHiccupsItGrowsAgain() {
        for (int i = 0; i < 8; i++) {
            window.answered(i * 1_000_000L, 15_000, true);
            window.answered(i * 1_000_000L, 45_000, true);
        }
        int small = window.size();
        for (int i = 0; i < 1_000; i++) {
            window.answered(10_000_000, 15_000, true);
        }
        assertTrue(window.size() > 2 * small, small + " became " + window.size());
    }

    @Test
    void aWayThatBecameLongerIsLearned() {
        window.answered(0, 1_000, true);
        int before = window.size();
        for (long now = 0; now < MINUTE; now += 10_000) {
            window.answered(now, 20_000, true);
        }
        assertTrue(window.size() > before, "it is " + window.size());
    }
}
