package io.limiter.http.internal;

import java.util.HashMap;
import java.util.Map;

/**
 * Divides a number of places among clients: each may have a part of those that the others leave, and at least one. So
 * one client can't have them all, and its neighbors do not notice it until many clients take all they can. Thread-safe;
 * its memory is bounded by the number of places.
 */
final class Shares {
    private final int places;
    private final int parts;
    private final Map<String, Integer> byClient = new HashMap<>();
    private int taken;

    /**
     * Free places.
     *
     * @param parts what the others leave, divided by this number, is what a client may have
     */
    Shares(int places, int parts) {
        this.places = places;
        this.parts = parts;
    }

    /** Whether a client may take a place now. */
    synchronized boolean isFree(String client) {
        int own = byClient.getOrDefault(client, 0);
        return taken < places && own < Math.max(1, (places - taken + own) / parts);
    }

    /** Takes a place, if the client may. */
    synchronized boolean tryTake(String client) {
        boolean isFree = isFree(client);
        if (isFree) {
            taken++;
            byClient.merge(client, 1, Integer::sum);
        }
        return isFree;
    }

    /** Whether a client has a place. */
    synchronized boolean areTaken() {
        return taken > 0;
    }

    /** Returns a place that the client has taken. */
    synchronized void free(String client) {
        taken--;
        byClient.computeIfPresent(client, (one, own) -> own == 1 ? null : own - 1);
    }
}
