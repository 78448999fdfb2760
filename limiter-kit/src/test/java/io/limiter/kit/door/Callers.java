package io.limiter.kit.door;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

/** Callers by address, user and role, behind proxies and not, with a rule for them: what each door must answer. */
public final class Callers {
    /** The configuration. */
    public static final String RULES = """
            limiter.client-ip.trusted-proxies = 10.0.0.0/8
            limiter.deny.addresses = 203.0.113.0/24
            limiter.exempt.addresses = 198.51.100.1
            limiter.rules.api.path = /*
            limiter.rules.api.key = ip + user
            limiter.rules.api.limits = 1/1h fixed
            limiter.rules.api.exempt.roles = ADMIN
            """;

    private Callers() {}

    /** Asks a door. */
    public interface Asking {
        /** The status that a request with these headers gets. */
        int status(String... headers);
    }

    /** Fails unless users, roles and addresses are those of the caller. */
    public static void assertKnown(Asking door) {
        for (String caller : List.of(
                "Test-Address: 192.0.2.1",
                "Test-Address: 192.0.2.2",
                "Test-Address: 2001:db8::1",
                "Test-Address: 10.0.0.1|X-Forwarded-For: 192.0.2.3",
                "Test-Address: 10.0.0.1|X-Forwarded-For: 192.0.2.9|X-Forwarded-For: 192.0.2.4, 10.0.0.2",
                "Test-Address: 192.0.2.1|Test-User: ann",
                "Test-Address: 192.0.2.1|Test-User: bob")) {
            String[] headers = caller.split("\\|");
            assertEquals(200, door.status(headers), caller);
            assertEquals(429, door.status(headers), caller);
        }
        assertEquals(429, door.status("Test-Address: 192.0.2.1", "X-Forwarded-For: 192.0.2.77"), "not trusted");
        assertEquals(429, door.status("Test-Address: 2001:db8::2"), "the same network");
        assertEquals(429, door.status("Test-Address: 10.0.0.9", "X-Forwarded-For: 192.0.2.3"), "another proxy");
        for (int i = 0; i < 3; i++) {
            assertEquals(403, door.status("Test-Address: 203.0.113.7"));
            assertEquals(200, door.status("Test-Address: 198.51.100.1"));
            assertEquals(200, door.status("Test-Address: 192.0.2.1", "Test-User: eve", "Test-Role: ADMIN"));
        }
    }
}
