package io.limiter.http.internal;

import static io.limiter.servlet.UnusedRules.EXEMPT;
import static io.limiter.servlet.UnusedRules.NONE;
import static io.limiter.servlet.UnusedRules.RULES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.servlet.LogText;
import io.limiter.servlet.WebServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** When the log names a rule that counts nothing. */
class RuleUsesTest {
    @Test
    void theLogNamesEachOnceAfterManyRequestsAndAnHour() {
        ManualTime time = new ManualTime();
        Map<String, RuleUses.Use> all = new LinkedHashMap<>();
        RuleUses uses = uses(time, all);
        all.get("api").verdict = Verdict.COUNTED;
        all.get("rest").verdict = Verdict.EXEMPT_CALLER;
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
        RuleUses reloaded = uses(time, all);
        reloaded.continueFrom(uses);
        try (LogText log = new LogText()) {
            time.advance(Duration.ofHours(2));
            requests(reloaded, RuleUses.REQUESTS - 1);
            requests(uses, RuleUses.REQUESTS);
            requests(reloaded, RuleUses.REQUESTS);
            assertEquals("", log.toString(), "once for each rule");
        }
    }

    private static RuleUses uses(ManualTime time, Map<String, RuleUses.Use> all) {
        RuleUses uses = new RuleUses(time);
        for (RuleDefinition rule : WebServer.config(RULES).settings().rules()) {
            RuleUses.Use use = new RuleUses.Use();
            all.put(rule.name(), use);
            uses.add(rule, use);
        }
        return uses;
    }

    private static void requests(RuleUses uses, int count) {
        for (int i = 0; i < count; i++) {
            uses.noteRequest();
        }
    }

    @Test
    void aRuleThatHasCountedStaysUsed() {
        RuleDefinition rule = WebServer.config(RULES).settings().rules().get(0);
        RuleUses.Use use = new RuleUses.Use();
        assertFalse(use.isChangedBy(Verdict.NOT_MATCHED));
        assertTrue(use.isChangedBy(Verdict.EXEMPT_PATH));
        use.verdict = Verdict.EXEMPT_PATH;
        assertFalse(use.isChangedBy(Verdict.EXEMPT_PATH));
        assertTrue(use.isChangedBy(Verdict.COUNTED));
        use.verdict = Verdict.COUNTED;
        assertFalse(use.isChangedBy(Verdict.EXEMPT_PATH));
        assertNull(use.whyUnused(rule));
    }
}
