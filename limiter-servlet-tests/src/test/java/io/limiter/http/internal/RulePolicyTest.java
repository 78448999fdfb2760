package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.security.Principal;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where the plan of a user is found. */
public class RulePolicyTest {
    public record Customer(String getName, String plan) implements Principal {
        @Override
        public String getName() {
            return getName;
        }
    }

    /** As Spring Security has it: the details are in an object within. */
    public record Token(Object getPrincipal) implements Principal {
        @Override
        public String getName() {
            return "token";
        }

        @Override
        public Object getPrincipal() {
            return getPrincipal;
        }
    }

    public record Claims(Map<String, String> claims) {
        public String getClaim(String name) {
            return claims.get(name);
        }
    }

    @Test
    void whereAttributesAreFound() {
        assertEquals("gold", RulePolicy.ofUser(new Customer("ann", "gold"), "plan"));
        assertEquals("ann", RulePolicy.ofUser(new Customer("ann", "gold"), "name"));
        assertEquals("gold", RulePolicy.ofUser(new Token(new Customer("ann", "gold")), "plan"));
        assertEquals("gold", RulePolicy.ofUser(new Token(new Claims(Map.of("plan", "gold"))), "plan"));
        assertNull(RulePolicy.ofUser(new Token(new Claims(Map.of())), "plan"));
        assertNull(RulePolicy.ofUser(new Customer("ann", "gold"), "other"));
        assertNull(RulePolicy.ofUser(() -> "ann", "plan"));
        assertNull(RulePolicy.ofUser(null, "plan"));
    }
}
