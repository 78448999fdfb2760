package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DeadlinesTest extends MasterLinkFixture {
    @Test
    void shortDeadlinesAmongLongOnesLeaveNoSweepsBehind() {
        for (int i = 0; i < 400; i++) {
            int first = sent.size();
            new Asker(Duration.ofMillis(200));
            new Asker(Duration.ofMillis(10));
            time.advance(Duration.ofMillis(5));
            runLater();
            answer(first);
            answer(first + 1);
        }
        assertTrue(later.size() <= 60, later.size() + " sweeps are waiting");
    }
}
