package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.ManualTime;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a link that comes and goes may write to the log. On a clock that the test sets. */
class AwayLogTest {
    private final ManualTime time = new ManualTime();
    private final List<Runnable> later = new ArrayList<>();
    private final LogLines log = new LogLines("io.limiter.redis.RedisBackend", Level.INFO);
    private final AwayLog away = new AwayLog("Redis", time, (pause, task) -> later.add(task));

    @AfterEach
    void stopListening() {
        log.close();
    }

    @Test
    void anOutageAndItsEndAreLoggedAtOnce() {
        assertTrue(away.set(true));
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofMillis(600));
        assertTrue(away.set(false));
        assertEquals(1, lines("RL-226"));
        assertTrue(!away.set(false), "no news");
    }

    @Test
    void aLinkThatFlapsIsLoggedOnceInTenSecondsAndAlwaysInPairs() {
        for (int i = 0; i < 30; i++) {
            away.set(true);
            time.advance(Duration.ofMillis(600));
            runDue(i);
            away.set(false);
            time.advance(Duration.ofMillis(400));
            runDue(i);
        }
        assertTrue(lines("RL-225") >= 3 && lines("RL-225") <= 4, log.toString());
        assertEquals(lines("RL-225"), lines("RL-226"), log.toString());
        assertTrue(log.of(Level.WARN, "RL-225").get(1).contains("outages since"), log.toString());
    }

    @Test
    void anOutageThatLastsIsLoggedInTheEndAlthoughOneWasLoggedJustBefore() {
        away.set(true);
        away.set(false);
        away.set(true);
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofSeconds(10));
        later.remove(0).run();
        assertEquals(2, lines("RL-225"), log.toString());
        away.set(false);
        assertEquals(2, lines("RL-226"), log.toString());
    }

    @Test
    void aMasterThatIsNoneAnyMoreEndsItsPair() {
        away.set(true);
        away.end();
        assertEquals(1, lines("RL-226"), log.toString());
        away.end();
        assertEquals(1, lines("RL-226"), log.toString());
    }

    private void runDue(int second) {
        if (second % 10 == 9) {
            List.copyOf(later).forEach(Runnable::run);
            later.clear();
        }
    }

    private int lines(String code) {
        return log.of(code.equals("RL-225") ? Level.WARN : Level.INFO, code).size();
    }
}
