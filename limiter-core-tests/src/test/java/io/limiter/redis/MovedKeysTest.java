package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException.Kind;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands for keys of several slots of one master of a cluster, of which one is elsewhere. */
class MovedKeysTest extends MasterLinkFixture {
    private static final List<Object> NUMBERS = List.of(6L, 1L, 2L, 0L, 0L, 0L, 0L);
    private static final String MOVED = "ERR Script attempted to access a non local key in a cluster node script: f(x)";
    private static final String REFUSED =
            "ERR Script attempted to access keys that do not hash to the same slot script: f";

    @BeforeEach
    void mixSlots() {
        isCluster = true;
        health.test.mixesSlots = true;
        // Two are on their way, so that the next ones wait for one command.
        askers(2);
    }

    private List<Asker> askForThreeKeys() {
        List<Asker> askers = List.of(new Asker(callOf("a")), new Asker(callOf("b")), new Asker(callOf("c")));
        answer(0);
        assertEquals(3, calls(2), "in one command");
        return askers;
    }

    @Test
    void keysOfAllSlotsLeaveInOneCommandThatDeclaresOne() {
        List<Asker> askers = askForThreeKeys();
        Command command = commands.get(2);
        assertEquals(1, command.keys().size());
        assertTrue(
                command.arguments().containsAll(List.of("p:{a}", "p:{b}", "p:{c}"))
                        || command.arguments().stream()
                                        .filter(word -> word.toString().contains("{"))
                                        .count()
                                == 3,
                command.arguments().toString());
        answer(2);
        askers.forEach(one -> assertTrue(one.answer.join().get(0).allowed()));
    }

    @SafeVarargs
    private static List<Object> reply(List<Object>... requests) {
        return Stream.of(requests).flatMap(List::stream).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {MOVED, "ERR Lua script attempted to access a non local key in a cluster node"})
    void aKeyThatIsElsewhereIsAskedForAloneAndOthersAreNot(String error) {
        List<Asker> askers = askForThreeKeys();
        sent.get(2).accept(reply(NUMBERS, List.of(-1L, error), NUMBERS), null);
        assertTrue(askers.get(0).answer.isDone());
        assertTrue(askers.get(2).answer.isDone());
        assertFalse(askers.get(1).answer.isDone());
        assertEquals(1, calls(3));
        assertEquals(1, commands.get(3).keys().size());
        answer(3);
        assertTrue(askers.get(1).answer.join().get(0).allowed());
        assertEquals(4, commands.size());
    }

    @Test
    void aCallOfWhichALimitWasChargedIsNeverAskedAgain() {
        List<Asker> askers = askForThreeKeys();
        sent.get(2).accept(reply(NUMBERS, List.of(-2L, MOVED), NUMBERS), null);
        assertEquals(Kind.FAULT, askers.get(1).failure());
        assertEquals(3, commands.size());
    }

    @Test
    void aCallerThatHasGivenUpIsNotAskedForAgain() {
        List<Asker> askers = askForThreeKeys();
        time.advance(DEADLINE);
        askers.get(1).giveUp();
        sent.get(2).accept(reply(NUMBERS, List.of(-1L, MOVED), NUMBERS), null);
        assertEquals(3, commands.size());
    }

    @Test
    void aServerThatBeginsToRefuseGetsACommandForEachSlot() {
        List<Asker> askers = askForThreeKeys();
        sent.get(2).accept(reply(NUMBERS, List.of(-1L, REFUSED), List.of(-1L, REFUSED)), null);
        assertEquals(5, commands.size());
        answer(3);
        answer(4);
        askers.forEach(one -> assertTrue(one.answer.join().get(0).allowed()));
        new Asker();
        List<Asker> later = List.of(new Asker(callOf("d")), new Asker(callOf("e")));
        int before = commands.size();
        answer(1);
        answer(5);
        assertEquals(before + 2, commands.size(), "one for each slot");
        assertFalse(later.get(0).answer.isDone());
    }

    @Test
    void aCommandThatFindsItsFirstKeyGoneRunsNothingAndAllAreAskedAlone() {
        List<Asker> askers = askForThreeKeys();
        fail(2, RedisFailure.replied("TRYAGAIN Multiple keys request during rehashing of slot", true));
        assertEquals(6, commands.size());
        answer(3);
        answer(4);
        answer(5);
        askers.forEach(one -> assertTrue(one.answer.join().get(0).allowed()));
    }
}
