package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What several rules charge a dispatch. */
class DispatchChargesTest {
    private static final Policy ONE = Policy.of("one", Limit.fixedWindow(1, Duration.ofSeconds(1)));
    private static final Policy TWO = Policy.of("two", Limit.fixedWindow(1, Duration.ofSeconds(1)));

    private final RateLimiter limiter =
            RateLimiters.on(InProcessBackend.builder().build());
    private final RequestLedger ledger = new RequestLedger(limiter, null);

    @Test
    void chargesAreInTheOrderOfTheirRules() {
        assertEquals(List.of("two", "one"), policies(recorded(rule(1, TWO, 1), rule(2, ONE, 1))));
    }

    @Test
    void aRequestIsChargedOnceForAPolicyAndKey() {
        List<Charge> charges = recorded(rule(1, ONE, 1), rule(2, ONE, 5), rule(3, ONE, 2), rule(4, TWO, 1));
        assertEquals(List.of("one", "two"), policies(charges));
        assertEquals(5, charges.get(0).permits());
    }

    @Test
    void aRuleChargesARequestOnce() {
        assertEquals(List.of("one"), policies(recorded(rule(1, ONE, 1))));
        assertEquals(List.of("two"), policies(recorded(rule(1, ONE, 1), rule(2, TWO, 1))));
    }

    private List<Charge> recorded(RuleCharge... rules) {
        DispatchCharges charges = new DispatchCharges(false, false);
        Stream.of(rules).forEach(rule -> charges.record(rule, ledger));
        return charges.enforced();
    }

    private static RuleCharge rule(int identity, Policy policy, long permits) {
        Charge charge = new Charge(policy, PartitionKey.of("a"), permits);
        return new RuleCharge(RuleCharge.Terms.ofCode(identity), charge, null);
    }

    private static List<String> policies(List<Charge> charges) {
        return charges.stream().map(charge -> charge.policy().name()).toList();
    }
}
