package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.ManualTime;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a link that comes and goes may write to the log. On a clock that the test sets. */
class OutageLogTest {
    private final ManualTime time = new ManualTime();
    private final LogLines log = new LogLines("io.limiter.redis.SelfTest", Level.INFO).ofThreads();
    private final SelfTest away =
            new SelfTest(new FakeTransport() {}, new RedisKeys("p", null), FakeTransport.MASTER, time);

    @AfterEach
    void stopListening() {
        log.close();
    }

    @Test
    void anOutageAndItsEndAreLoggedAtOnce() {
        assertTrue(away.noteUnreachable(true));
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofMillis(600));
        assertTrue(away.noteUnreachable(false));
        assertEquals(1, lines("RL-226"));
        assertTrue(!away.noteUnreachable(false), "no news");
    }

    @Test
    void aLinkThatFlapsIsLoggedOnceInTenSecondsAndAlwaysInPairs() {
        for (int i = 0; i < 30; i++) {
            away.noteUnreachable(true);
            time.advance(Duration.ofMillis(600));
            runDue(i);
            away.noteUnreachable(false);
            time.advance(Duration.ofMillis(400));
            runDue(i);
        }
        assertTrue(lines("RL-225") >= 3 && lines("RL-225") <= 4, log.toString());
        assertEquals(lines("RL-225"), lines("RL-226"), log.toString());
    }

    @Test
    void aLongOutageIsLoggedAfterAShortOne() {
        away.noteUnreachable(true);
        away.noteUnreachable(false);
        away.noteUnreachable(true);
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofSeconds(10));
        away.write();
        assertEquals(2, lines("RL-225"), log.toString());
        away.noteUnreachable(false);
        assertEquals(2, lines("RL-226"), log.toString());
    }

    @Test
    void aMasterThatIsNoneAnyMoreEndsItsPair() {
        away.noteUnreachable(true);
        away.end();
        assertEquals(1, lines("RL-226"), log.toString());
        away.end();
        assertEquals(1, lines("RL-226"), log.toString());
    }

    @Test
    void aFindingIsLoggedWhenItComesAndWhenItGoes() {
        away.setFindings(Map.of("RL-203", "it is a replica"));
        away.setFindings(Map.of("RL-203", "it is a replica", "RL-208", "its clock is late"));
        assertEquals(1, log.of(Level.WARN, "RL-203").size(), log.toString());
        assertEquals(2, away.findings().size());
        assertTrue(
                away.findings().contains("RL-203 Redis: it is a replica"),
                away.findings().toString());
        away.setFindings(Map.of("RL-208", "its clock is late"));
        assertEquals(1, log.of(Level.INFO, "RL-203 Redis: resolved").size(), log.toString());
        assertEquals(1, log.of(Level.WARN, "RL-208").size(), log.toString());
    }

    /** As the watch does every five seconds. */
    private void runDue(int second) {
        if (second % 5 == 4) {
            away.write();
        }
    }

    private int lines(String code) {
        return log.of(code.equals("RL-225") ? Level.WARN : Level.INFO, code).size();
    }
}
