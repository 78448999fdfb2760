package io.limiter.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RuleTest {
    private static final Policy FREE = Policy.of("free", Limit.fixedWindow(1, Duration.ofSeconds(1)));
    private static final Policy PAID = Policy.of("paid", Limit.fixedWindow(9, Duration.ofSeconds(1)));
    private static final KeyResolver<Object> KEY = subject -> PartitionKey.of(subject.toString());

    @Test
    void onePermitOfThePolicyForTheKey() {
        Rule<String> rule = Rule.of(KEY, FREE);
        assertEquals(new Charge(FREE, PartitionKey.of("a"), 1), rule.charge("a"));
    }

    @Test
    void thePolicyIsChosenForEachCall() {
        Rule<String> rule = Rule.of(KEY, subject -> subject.startsWith("paid") ? PAID : FREE);
        assertEquals(PAID, rule.charge("paid-1").policy());
        assertEquals(FREE, rule.charge("other").policy());
    }

    @Test
    void onlyWhenTheConditionHolds() {
        Rule<String> rule = Rule.<String>of(KEY, FREE).when(subject -> subject.length() > 1);
        assertNull(rule.charge("a"));
        assertEquals(FREE, rule.charge("ab").policy());
    }
}
