package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.http.ClientAddress;
import io.limiter.kit.door.Chains;
import io.limiter.kit.door.Chains.Trust;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Two walks over the same chains, written apart, end at the same client. */
class SecondWalkTest {
    private static final int CASES = 10_000;

    @Test
    void bothEndAtTheSameClient() {
        Chains chains = new Chains(20_261_121);
        Map<String, Integer> kinds = new TreeMap<>();
        for (int i = 0; i < CASES; i++) {
            Trust trust = chains.trust();
            String peer = chains.peer();
            List<String> lines = chains.lines(trust.header());
            ClientAddress client =
                    Rows.resolver(trust).resolve(peer, name -> name.equals(trust.header()) ? lines : List.of());
            assertEquals(trust.naive().text(peer, lines), client.text(), () -> trust + " from " + peer + ": " + lines);
            kinds.merge(client.origin() + (client.isMalformed() ? " malformed" : ""), 1, Integer::sum);
        }
        // Each end of a walk came often enough to mean something.
        for (String kind : List.of("HEADER", "HEADER malformed", "PEER", "PEER malformed", "NONE malformed")) {
            assertTrue(kinds.getOrDefault(kind, 0) > CASES / 200, kinds.toString());
        }
    }
}
