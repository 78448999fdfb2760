package io.limiter.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RuleSetTest {
    private static final Policy ONE = Policy.of("one", Limit.fixedWindow(1, Duration.ofSeconds(1)));
    private static final Policy TWO = Policy.of("two", Limit.fixedWindow(1, Duration.ofSeconds(1)));

    @Test
    void rulesAreAskedInTheirOrderAndMayDecline() {
        RuleSet<String> rules = new RuleSet<>(List.of(rule(TWO, 1), subject -> null, rule(ONE, 1)));
        assertEquals(List.of("two", "one"), policies(rules.charges("a")));
        assertEquals(3, rules.size());
    }

    @Test
    void aSubjectIsChargedOnceForAPolicyAndKey() {
        RuleSet<String> rules = new RuleSet<>(List.of(rule(ONE, 1), rule(ONE, 5), rule(ONE, 2), rule(TWO, 1)));
        List<Charge> charges = rules.charges("a");
        assertEquals(List.of("one", "two"), policies(charges));
        assertEquals(5, charges.get(0).permits());
    }

    @Test
    void noRuleIsNoCharge() {
        assertEquals(List.of(), new RuleSet<String>(List.of()).charges("a"));
    }

    private static Rule<String> rule(Policy policy, long permits) {
        return subject -> new Charge(policy, PartitionKey.of(subject), permits);
    }

    private static List<String> policies(List<Charge> charges) {
        return charges.stream().map(charge -> charge.policy().name()).toList();
    }
}
