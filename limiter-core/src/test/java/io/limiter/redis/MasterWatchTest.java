package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.ManualTime;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** What a link that comes and goes may write to the log. On a clock that the test sets. */
class MasterWatchTest {
    private final ManualTime time = new ManualTime();
    private final LogLines log = new LogLines("io.limiter.redis.MasterWatch", Level.INFO);
    /** It is never used, so it never connects. */
    private final RedissonClient client =
            RedisClients.single("redis://127.0.0.1:1").make();

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final MasterWatch away = new MasterWatch(
            "Redis",
            new SelfTest(new Masters(client, timer), new RedisKeys("p", null)),
            time,
            null,
            Duration.ofMillis(50),
            Runnable::run,
            former -> {});

    @AfterEach
    void stopListening() {
        log.close();
        timer.shutdownNow();
        client.shutdown();
    }

    @Test
    void anOutageAndItsEndAreLoggedAtOnce() {
        assertTrue(away.setUnreachable(true));
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofMillis(600));
        assertTrue(away.setUnreachable(false));
        assertEquals(1, lines("RL-226"));
        assertTrue(!away.setUnreachable(false), "no news");
    }

    @Test
    void aLinkThatFlapsIsLoggedOnceInTenSecondsAndAlwaysInPairs() {
        for (int i = 0; i < 30; i++) {
            away.setUnreachable(true);
            time.advance(Duration.ofMillis(600));
            runDue(i);
            away.setUnreachable(false);
            time.advance(Duration.ofMillis(400));
            runDue(i);
        }
        assertTrue(lines("RL-225") >= 3 && lines("RL-225") <= 4, log.toString());
        assertEquals(lines("RL-225"), lines("RL-226"), log.toString());
        assertTrue(log.of(Level.WARN, "RL-225").get(1).contains("outages since"), log.toString());
    }

    @Test
    void anOutageThatLastsIsLoggedInTheEndAlthoughOneWasLoggedJustBefore() {
        away.setUnreachable(true);
        away.setUnreachable(false);
        away.setUnreachable(true);
        assertEquals(1, lines("RL-225"));
        time.advance(Duration.ofSeconds(10));
        away.write();
        assertEquals(2, lines("RL-225"), log.toString());
        away.setUnreachable(false);
        assertEquals(2, lines("RL-226"), log.toString());
    }

    @Test
    void aMasterThatIsNoneAnyMoreEndsItsPair() {
        away.setUnreachable(true);
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
