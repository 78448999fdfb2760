package io.limiter.webflux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Spring Boot does with forwarded headers before the filter. */
class BootAddressesTest extends BootSite {
    private static String[] with(String strategy, String... more) {
        Stream<String> all = Stream.of(
                "server.forward-headers-strategy=" + strategy,
                "limiter.rules.all.path=/*",
                "limiter.rules.all.limits=1/1h fixed");
        return Stream.concat(all, Stream.of(more)).toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void anAddressOfAHeaderIsFoundAndThePeerCounts(String strategy) {
        start(Site.class, with(strategy, "limiter.client-ip.source=connection", "limiter.deny.addresses=127.0.0.1"));
        assertEquals(403, status("/", "X-Forwarded-For: 192.0.2.1"), "the peer is denied, whatever it claims");
        assertEquals(403, status("/", "Forwarded: for=192.0.2.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void behindATrustedProxyTheClientCounts(String strategy) {
        String[] trusting = {"limiter.client-ip.source=connection", "limiter.client-ip.trusted-proxies=127.0.0.0/8"};
        start(Site.class, with(strategy, trusting));
        assertEquals(200, status("/", "X-Forwarded-For: 198.51.100.9, 192.0.2.1"));
        assertEquals(
                429, status("/", "X-Forwarded-For: 203.0.113.5, 192.0.2.1"), "the first one is the client's own text");
        assertEquals(200, status("/", "X-Forwarded-For: 192.0.2.2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void replacedAddressesAreReportedOrRefused(String strategy) {
        start(Site.class, with(strategy));
        assertEquals(1, log.of(Level.WARN, "RL-330").size(), log::toString);
        fails("RL-191", with(strategy, "limiter.exempt.addresses=10.0.0.0/8"));
    }
}
