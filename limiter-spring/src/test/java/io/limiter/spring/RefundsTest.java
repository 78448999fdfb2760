package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.PartitionKey;
import java.io.IOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What comes back when a limited call fails: what the annotation took that says so, and nothing else. */
class RefundsTest {
    private static final String LIMITS = "9/1h";
    private static final String NINE = "limiter.policies.nine.limits = " + LIMITS + "\n";

    static class Failing {
        @RateLimited(value = "nine", key = "'a'", refundOn = IllegalStateException.class)
        @RateLimited(value = "nine", key = "'b'")
        public void onePolicyForTwoKeys() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'c'", permits = "5")
        @RateLimited(value = "nine", key = "'c'", permits = "1", refundOn = IllegalStateException.class)
        public void theLargerHasNoRefund() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'d'", permits = "5", refundOn = IllegalStateException.class)
        @RateLimited(value = "nine", key = "'d'", permits = "1")
        public void theLargerHasARefund() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'e'", refundOn = ExecutionException.class)
        public void wrapper() throws ExecutionException {
            throw new ExecutionException(new IOException());
        }

        @RateLimited(value = "nine", key = "'f'", refundOn = IOException.class)
        public void wrapped() {
            throw new CompletionException(new IOException());
        }
    }

    @Test
    void eachAnnotationGivesBackItsOwn() {
        try (App app = App.of(NINE, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            assertThrows(IllegalStateException.class, failing::onePolicyForTwoKeys);
            assertEquals(9, left(app, "a"));
            assertEquals(8, left(app, "b"));
            assertThrows(IllegalStateException.class, failing::theLargerHasNoRefund);
            assertEquals(4, left(app, "c"), "two of one policy and key are one charge, that of the larger");
            assertThrows(IllegalStateException.class, failing::theLargerHasARefund);
            assertEquals(9, left(app, "d"));
        }
    }

    @Test
    void whatIsThrownMattersAndWhatItWraps() {
        try (App app = App.of(NINE, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            assertThrows(ExecutionException.class, failing::wrapper);
            assertEquals(9, left(app, "e"));
            assertThrows(CompletionException.class, failing::wrapped);
            assertEquals(9, left(app, "f"));
        }
    }

    private static long left(App app, String key) {
        return app.left("nine", LIMITS, PartitionKey.builder().add("key", key).build());
    }
}
