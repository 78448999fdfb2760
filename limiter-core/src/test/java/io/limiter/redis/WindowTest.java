package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WindowTest {
    private static final long DEADLINE = 50_000;

    private final Window window = new Window();

    @Test
    void oneDelayHalvesItOnceHoweverManyCallsItMadeLate() {
        int before = window.size();
        for (int i = 0; i < 100; i++) {
            window.late(1_000 + i, DEADLINE);
        }
        assertEquals(before / 2, window.size());
        window.late(1_000 + DEADLINE, DEADLINE);
        assertEquals(before / 4, window.size());
    }

    @Test
    void itNeverGetsSmallerThanTheLeastAndSaysSo() {
        for (long now = 0; now < 20 * DEADLINE; now += DEADLINE) {
            window.late(now, DEADLINE);
        }
        assertEquals(Window.LEAST, window.size());
        assertTrue(window.isSmallest());
        window.reset();
        assertEquals(64, window.size());
    }

    @Test
    void aRoundOfQuickAnswersMakesItOneLargerWhereMoreWaitUpToTheMost() {
        int before = window.size();
        for (int i = 0; i < before + 1; i++) {
            window.answered(i, 100, DEADLINE, true);
        }
        assertEquals(before + 1, window.size());
        for (int i = 0; i < 100_000; i++) {
            window.answered(i, 100, DEADLINE, true);
        }
        assertEquals(Window.MOST, window.size());
    }

    @Test
    void itDoesNotGrowUnusedOrOnSlowAnswers() {
        int before = window.size();
        for (int i = 0; i < 1_000; i++) {
            window.answered(i, 100, DEADLINE, false);
            window.answered(i, DEADLINE / 3, DEADLINE, true);
        }
        assertEquals(before, window.size());
        window.answered(5_000, DEADLINE / 2 + 1, DEADLINE, true);
        assertEquals(before / 2, window.size());
    }
}
