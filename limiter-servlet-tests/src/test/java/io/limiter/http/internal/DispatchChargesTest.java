package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.engine.RateLimiters;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What several rules charge a dispatch. */
class DispatchChargesTest {
    private static final Policy ONE = Policy.of("one", Limit.fixedWindow(1, Duration.ofSeconds(1)));
    private static final Policy TWO = Policy.of("two", Limit.fixedWindow(1, Duration.ofSeconds(1)));

    @Test
    void aRequestIsChargedOnceForAPolicyAndKeyInTheOrderOfItsRules() {
        List<Charge> all = List.of(charge(TWO, 1), charge(TWO, 5), charge(TWO, 2), charge(ONE, 1));
        RequestLedger ledger = new RequestLedger(RateLimiters.unlimited(), null);
        DispatchCharges charges = new DispatchCharges(false, false);
        for (int i = 0; i < all.size(); i++) {
            charges.record(new RuleCharge(RuleCharge.Terms.ofCode(i), all.get(i), null), ledger);
        }
        assertEquals(List.of(charge(TWO, 5), charge(ONE, 1)), charges.enforced());
    }

    private static Charge charge(Policy policy, long permits) {
        return new Charge(policy, PartitionKey.of("a"), permits);
    }
}
