package io.limiter.http.internal.address;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Odd headers and odd addresses: some in every build, a million of each when asked for. */
class AddressFuzzTest {
    private static final int SOME = 5_000;
    private static final int MANY = 1_000_000;
    private static final long SEED = 20_261_121;

    @Test
    void someHeaders() {
        AddressFuzz.headers(SOME, SEED);
    }

    @Test
    void someAddresses() {
        AddressFuzz.addresses(SOME, SEED);
    }

    @Test
    @Tag("soak")
    void aMillionHeaders() {
        AddressFuzz.headers(MANY, SEED + 1);
    }

    @Test
    @Tag("soak")
    void aMillionAddresses() {
        AddressFuzz.addresses(MANY, SEED + 1);
    }
}
