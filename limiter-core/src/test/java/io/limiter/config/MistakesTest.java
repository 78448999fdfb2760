package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** One message lists every mistake, and each of them once. */
class MistakesTest {
    /** One cause, one problem. */
    @Test
    void aMistakeCausesNoSecondProblem() {
        assertProblems(
                1,
                "limiter.plans.gold.limits",
                "100 per",
                "limiter.rules.r.plan",
                "header:X-Plan",
                "limiter.rules.r.default-plan",
                "gold");
        assertProblems(1, "limiter.rules.r.limits", "5/1h distinct", "limiter.rules.r.member", "*");
        assertProblems(1, "limiter.rules.r.limits", "5/1h distnct", "limiter.rules.r.member", "header:X-User");
        assertProblems(1, "limiter.rules.r.limits", "often", "limiter.rules.r.cost", "10");
    }

    /** Several causes, several problems, each with what to write. */
    @Test
    void oneMessageListsEveryMistake() {
        assertProblems(
                2,
                "limiter.rules.r.path",
                "/api/.*",
                "limiter.rules.r.methods",
                "GET|POST",
                "limiter.rules.r.limits",
                "1/1m");
        assertProblems(
                4,
                "limiter.rules.r.cost",
                "-1",
                "limiter.rules.r.limits",
                "1/0m",
                "limiter.http.rejection-handler",
                "Nothing-",
                "limiter.instances",
                "0");
    }

    private static void assertProblems(int number, String... properties) {
        LimiterConfig.Builder text = LimiterConfig.builder();
        text.property("f", 1, "limiter.rules.r.path", "/x");
        for (int i = 0; i < properties.length; i += 2) {
            text.property("f", i + 2, properties[i], properties[i + 1]);
        }
        ConfigException refused = assertThrows(ConfigException.class, text::build);
        assertEquals(number, refused.problems().size(), refused.getMessage());
        refused.problems().forEach(problem -> assertTrue(problem.contains("; "), problem));
    }
}
