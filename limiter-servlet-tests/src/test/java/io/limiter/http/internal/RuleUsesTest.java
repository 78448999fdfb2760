package io.limiter.http.internal;

import static io.limiter.servlet.UnusedRules.EXEMPT;
import static io.limiter.servlet.UnusedRules.NONE;
import static io.limiter.servlet.UnusedRules.RULES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.ManualTime;
import io.limiter.servlet.LogText;
import io.limiter.servlet.WebServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When the log names a rule that counts nothing. */
class RuleUsesTest {
    @Test
    void theLogNamesEachOnceAfterManyRequestsAndAnHour() {
        ManualTime time = new ManualTime();
        List<RuleUses.Use> all = all();
        RuleUses uses = new RuleUses(all, time);
        note("api", Verdict.COUNTED, all);
        note("rest", Verdict.EXEMPT_CALLER, all);
        try (LogText log = new LogText()) {
            requests(uses, 2 * RuleUses.REQUESTS);
            time.advance(Duration.ofMinutes(59));
            requests(uses, 2_000);
            assertEquals("", log.toString(), "within an hour");
            time.advance(Duration.ofMinutes(1));
            requests(uses, 2_000);
            log.has("RL-193 rule 'typo' has counted none of 10000 requests and more: " + NONE);
            log.has("RL-193 rule 'rest' has counted none of 10000 requests and more: " + EXEMPT);
            assertFalse(log.toString().contains("'api'"));
        }
        RuleUses reloaded = new RuleUses(all(), time);
        reloaded.continueFrom(uses);
        try (LogText log = new LogText()) {
            time.advance(Duration.ofHours(2));
            requests(reloaded, RuleUses.REQUESTS - 1);
            requests(uses, RuleUses.REQUESTS);
            requests(reloaded, RuleUses.REQUESTS);
            assertEquals("", log.toString(), "once for each rule");
        }
    }

    private static List<RuleUses.Use> all() {
        return WebServer.config(RULES).settings().rules().stream()
                .map(RuleUses.Use::new)
                .toList();
    }

    private static void note(String rule, Verdict verdict, List<RuleUses.Use> all) {
        all.stream().filter(one -> one.rule.name().equals(rule)).forEach(one -> one.note(verdict));
    }

    private static void requests(RuleUses uses, int count) {
        for (int i = 0; i < count; i++) {
            uses.noteRequest();
        }
    }

    @Test
    void aRuleThatHasCountedStaysUsed() {
        RuleUses.Use use = all().get(0);
        use.note(Verdict.NOT_MATCHED);
        assertEquals(NONE, use.whyUnused());
        use.note(Verdict.EXEMPT_CALLER);
        assertEquals(EXEMPT, use.whyUnused());
        use.note(Verdict.COUNTED);
        use.note(Verdict.EXEMPT_CALLER);
        assertNull(use.whyUnused());
    }
}
