package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** A door that stops, and a request that has its place but is not held yet. */
class HeldPlacesTest {
    /** Otherwise the server stops before it is held, and closes its connection. */
    @Test
    void theStopWaitsForARequestThatIsAboutToBeHeld() throws Exception {
        String client = "192.0.2.1";
        HeldPlaces held = new HeldPlaces(10);
        assertTrue(held.tryEnter(client));
        CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> held.close(Duration.ofMinutes(1)));
        Await.until("it begins to stop", () -> {
            boolean isOpen = held.tryEnter("192.0.2.2");
            if (isOpen) {
                held.leave("192.0.2.2");
            }
            return !isOpen;
        });
        assertThrows(TimeoutException.class, () -> stop.get(100, TimeUnit.MILLISECONDS));
        held.leave(client);
        stop.get(30, TimeUnit.SECONDS);
        assertFalse(held.tryEnter(client), "it has stopped");
        held.open();
        assertTrue(held.tryEnter(client));
        long began = System.nanoTime();
        held.close();
        assertTrue(System.nanoTime() - began >= 4_900_000_000L, "for five seconds at most");
    }
}
