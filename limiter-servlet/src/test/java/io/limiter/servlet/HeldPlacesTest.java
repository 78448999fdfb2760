package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.http.internal.HeldPlaces;
import io.limiter.kit.Await;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Places of requests that are held; {@link StopTest} has the requests. */
class HeldPlacesTest {
    private static final String CLIENT = "192.0.2.1";

    /** Otherwise the server stops before it is held, and closes its connection. */
    @Test
    void theStopWaitsForARequestThatIsAboutToBeHeld() throws Exception {
        HeldPlaces held = new HeldPlaces(10);
        assertTrue(held.tryEnter(CLIENT));
        CompletableFuture<Void> stop = CompletableFuture.runAsync(held::close);
        Await.until("it begins to stop", () -> {
            boolean isOpen = held.tryEnter("192.0.2.2");
            if (isOpen) {
                held.leave("192.0.2.2");
            }
            return !isOpen;
        });
        assertThrows(TimeoutException.class, () -> stop.get(100, TimeUnit.MILLISECONDS));
        held.leave(CLIENT);
        stop.get(30, TimeUnit.SECONDS);
        assertFalse(held.tryEnter(CLIENT), "it has stopped");
        held.open();
        assertTrue(held.tryEnter(CLIENT));
    }
}
