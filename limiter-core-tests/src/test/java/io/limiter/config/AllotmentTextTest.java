package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.config.LimitText;
import io.limiter.kit.Configs;
import io.limiter.kit.Facts;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A stock as text: what it means, and what is refused, because it would sell more than intended. */
class AllotmentTextTest {
    private static final String CLOSES = " closes 2026-11-27T22:00:00+01:00";
    private static final Instant END = Instant.parse("2026-11-27T21:00:00Z");

    @Test
    void itsTimesHaveAZoneOrAnOffset() {
        Policy sale = Configs.of("limiter.policies.sale.limits = 100 allotment each 2 hold 15m"
                        + " opens 2026-11-27T10:00:00+01:00[Europe/Rome]" + CLOSES + ", 5/1m")
                .policies()
                .get("sale");
        Instant start = Instant.parse("2026-11-27T09:00:00Z");
        Limit stock = Limit.allotment(100, 2, Duration.ofMinutes(15), start, END);
        assertEquals(Policy.of("sale", stock, Limit.slidingList(5, Duration.ofMinutes(1))), sale);
        assertEquals(FailureMode.DENY, sale.onFailure());
    }

    @Test
    void eachIsOneAndTheStateIsThatOfEveryHold() {
        Limit unsaid = LimitText.parse("9 allotment closes 2026-11-27T21:00:00Z");
        assertEquals(Limit.allotment(9, 1, Duration.ZERO, null, END), unsaid);
        assertEquals(
                unsaid.identity(),
                Limit.allotment(9, 1, Duration.ofHours(1), null, END).identity());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RL-171 | 9 allotment | ''",
                "RL-172 | 9 allotment closes 2026-11-27T21:00Z opens 2026-11-27T21:00Z | ''",
                "RL-173 | 9 allotment closes 2026-11-27T21:00 | ''",
                "RL-174 | 9 allotment closes 2026-11-27T21:00Z | local",
                "RL-174 | 9 allotment closes 2026-11-27T21:00Z | allow",
                "RL-104 | 9/1d allotment closes 2026-11-27T21:00Z | ''",
                "RL-104 | 9/1d each 2 | ''",
                "RL-104 | 9/1m closes 2026-11-27T21:00Z | ''",
                "RL-104 | 9 allotment each 10 closes 2026-11-27T21:00Z | ''",
                "RL-104 | 10001 allotment closes 2026-11-27T21:00Z | ''"
            })
    void whatCouldSellMoreIsRefused(String code, String limits, String mode) {
        String text = "limiter.policies.sale.limits = " + limits
                + (mode.isEmpty() ? "" : "\nlimiter.policies.sale.on-failure = " + mode);
        ConfigException refused = assertThrows(ConfigException.class, () -> Configs.of(text));
        Facts.toldInOneLine(refused.getMessage(), code, "limiter.policies.sale.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ip | header:X-User | RL-178, RL-179",
                "user | query:u | RL-178, RL-179",
                "global | session | RL-179",
                "header:X-Key + path:event | user | RL-197, RL-178",
                "path:event | user | ''",
                "global | ip + header:X-User | ''"
            })
    void whatClientsCanDoAboutAStockIsReported(String key, String member, String codes) {
        String rule = "limiter.rules.seats.path = /seats/{event}\nlimiter.rules.seats.key = " + key
                + "\nlimiter.rules.seats.member = " + member + "\nlimiter.rules.seats.limits = 100 allotment each 2"
                + CLOSES + "\n";
        assertEquals(codes, String.join(", ", codes(rule)));
        List<String> shadow = codes(rule + "limiter.rules.seats.shadow = true\n");
        assertEquals("RL-155", shadow.get(0));
    }

    /** Of what is noted about it. */
    private static List<String> codes(String text) {
        return Configs.of(text).settings().notes().stream()
                .map(one -> one.substring(0, 6))
                .toList();
    }

    /** Each key would have one member, and never too many. */
    @ParameterizedTest
    @CsvSource({"header:X-User, header:X-User", "ip + user, user", "ip, ip"})
    void aMemberThatTheKeyHasTooIsRefused(String key, String member) {
        String message = String.valueOf(assertThrows(
                        ConfigException.class,
                        () -> Configs.of("limiter.rules.a.path = /a\nlimiter.rules.a.key = " + key
                                + "\nlimiter.rules.a.member = " + member
                                + "\nlimiter.rules.a.limits = 5/1d distinct\n"))
                .getMessage());
        assertEquals(1, message.split("RL-164 ", -1).length - 1, message);
    }
}
