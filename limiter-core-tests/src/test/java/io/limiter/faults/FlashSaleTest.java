package io.limiter.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stock is never oversold, whatever becomes of calls and of Redis, as far as Redis keeps what it has answered. */
@Tag("long")
class FlashSaleTest {
    /** How long Redis may put off what it appends, by its documentation: with everysec for two seconds at most. */
    private static final Duration PUT_OFF = Duration.ofSeconds(2);

    @Test
    void aSmallSaleSellsExactlyItsStock() throws Exception {
        check("always", 20, 100);
    }

    @Tag("faults")
    @ParameterizedTest
    @ValueSource(strings = {"always", "everysec"})
    void aLargeSaleSellsNoMoreThanItsStock(String fsync) throws Exception {
        check(fsync, 100, 2_000);
    }

    private static void check(String fsync, int stock, int users) throws Exception {
        FlashSale.Result result = FlashSale.run(fsync, stock, users);
        assertTrue(result.unanswered() > 0, "the faults have hurt nobody");
        assertEquals(stock, result.owners().size(), "more asked than there was");
        assertEquals(
                result.owners(),
                new TreeSet<>(result.held().keySet()),
                "Redis holds other owners than in" + " its answers");
        assertEquals(Set.of("1"), Set.copyOf(result.held().values()), "somebody has bought twice");
        assertTrue(result.told().keySet().containsAll(result.owners()), "an owner never got that answer");
        Set<String> lost = new TreeSet<>(result.told().keySet());
        lost.removeAll(result.owners());
        if (fsync.equals("always")) {
            assertEquals(Collections.emptySet(), lost, "Redis lost what it had answered");
        }
        for (String user : lost) {
            long before = result.told().get(user);
            assertTrue(
                    before >= 0 && before <= PUT_OFF.toNanos(),
                    user + " lost what it had bought " + before + " ns before the kill");
        }
    }
}
