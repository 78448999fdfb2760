package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A call that is answered leaves no alarm behind: else each would be kept until its deadline. */
class DeadlinesTest {
    @Test
    void anAlarmEndsWithItsCall() {
        try (Deadlines deadlines = new Deadlines(TimeSource.system())) {
            List<CompletableFuture<String>> work = new ArrayList<>();
            List<CompletableFuture<String>> bound = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                CompletableFuture<String> one = new CompletableFuture<>();
                work.add(one);
                bound.add(deadlines.bound(Duration.ofHours(1), waiter -> one));
            }
            assertEquals(100, deadlines.alarms());
            for (int i = 0; i < 100; i++) {
                if (i % 2 == 0) {
                    work.get(i).complete("done");
                } else {
                    work.get(i).completeExceptionally(new IllegalStateException("failed"));
                }
            }
            assertTrue(bound.stream().allMatch(CompletableFuture::isDone));
            assertEquals(0, deadlines.alarms());
        }
    }
}
