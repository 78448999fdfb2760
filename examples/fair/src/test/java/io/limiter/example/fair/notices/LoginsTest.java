package io.limiter.example.fair.notices;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.TestRedis;
import io.limiter.example.fair.notices.Logins.Login;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** Each voter who logs in gets what it missed, in the order of logging in, whatever happens to the workers. */
class LoginsTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private RedissonClient redisson;
    private Logins logins;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("notices");
        logins = new Logins(redisson, HOUR);
    }

    @Test
    void aVoterIsInItOnceAndKeepsItsPlace() {
        for (String voter : List.of("zoe", "ada", "ben")) {
            long before = millis();
            Await.until(Duration.ofMinutes(1), "the next millisecond", () -> millis() > before);
            logins.enter(List.of(voter));
        }
        logins.enter(List.of("zoe", "ben"));

        assertEquals(3, logins.size());
        assertEquals(List.of("zoe", "ada"), voters(logins.take(2)));
        logins.enter(List.of("zoe"));
        assertEquals(3, logins.size(), "a worker has it: it gets what it missed then");
        assertEquals(List.of("ben"), voters(logins.take(2)));
        assertEquals(List.of(), voters(logins.take(2)));
    }

    @Test
    void manyWorkersTakeEachVoterOnce() {
        logins.enter(IntStream.range(0, 400).mapToObj(i -> "v" + i).toList());
        Set<String> seen = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 80)
                .parallel()
                .forEach(i -> logins.take(10).forEach(login -> {
                    assertTrue(seen.add(login.voter()), login.voter() + " twice");
                    assertTrue(logins.done(login));
                }));

        assertEquals(400, seen.size());
        assertEquals(0, logins.size());
    }

    /** The article's `rPop` has lost the voter then: it never gets what it missed. */
    @Test
    void votersOfAWorkerThatDiedAreTakenAgainAndFirst() {
        Logins dying = new Logins(redisson, Duration.ofMillis(1));
        logins.enter(List.of("ada"));
        List<Login> lost = dying.take(1);
        logins.enter(List.of("ben"));

        List<Login> again = new ArrayList<>();
        Await.until(Duration.ofMinutes(1), "the lease ends", () -> {
            again.addAll(logins.take(1));
            return again.stream().anyMatch(login -> login.voter().equals("ada"));
        });

        assertFalse(dying.done(lost.get(0)), "another worker has it");
        assertTrue(again.stream().allMatch(logins::done));
        logins.take(1).forEach(logins::done);
        assertEquals(0, logins.size());
    }

    @Test
    void aWorkerThatDiesLosesNobody() {
        Notices notices = new Notices(redisson);
        Crash.afterEachCommand(
                () -> {
                    empty();
                    notices.publish(null, "open", "");
                    notices.deliverNext();
                    logins.enter(List.of("ada", "ben"));
                },
                dying -> {
                    Logins its = new Logins(dying, Duration.ofMillis(1));
                    for (Login login : its.take(2)) {
                        new Notices(dying).arrive(login.voter());
                        its.done(login);
                    }
                },
                commands -> {
                    Await.until(Duration.ofMinutes(1), "nobody waits after " + commands + " commands", () -> {
                        for (Login login : logins.take(9)) {
                            notices.arrive(login.voter());
                            logins.done(login);
                        }
                        return logins.size() == 0;
                    });
                    assertEquals(1, notices.inbox("ada", 9).size(), commands + " commands");
                    assertEquals(1, notices.inbox("ben", 9).size(), commands + " commands");
                });
    }

    private static long millis() {
        return System.currentTimeMillis();
    }

    private static List<String> voters(List<Login> logins) {
        return logins.stream().map(Login::voter).toList();
    }
}
