package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.servlet.FakeExchange;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which warnings are logged, and how often. */
class ProxyWarningsTest {
    private final Warnings warnings = new Warnings();
    private final ManualTime time = new ManualTime();

    private AddressResolver resolver(String trust) {
        return new AddressResolver(Rows.settings(trust, 64), warnings.logger(), time);
    }

    private void resolve(AddressResolver resolver, String peer, String... headers) {
        resolver.resolve(peer, Rows.headers(headers));
    }

    /** That one line was logged, with this beginning; or none, where that is empty. */
    private void assertWarned(String beginning) {
        List<String> lines = warnings.taken();
        assertEquals(beginning.isEmpty() ? 0 : 1, lines.size(), lines::toString);
        assertTrue(String.join("", lines).startsWith(beginning), () -> beginning + "? " + lines);
    }

    /** Whom to trust, the peer, its headers, and what the first such request logs; the second one logs nothing. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', nullValues = "-", textBlock = """
            none | 192.0.2.1 | - |
            none | 127.0.0.1 | - |
            none | - | - |
            none | 192.0.2.1 | X-Forwarded-For: 1.1.1.1 | RL-301 X-Forwarded-For came from 192.0.2.1, which is not a trusted proxy, and is ignored.
            none | ::ffff:10.0.0.1 | X-Real-IP: 1.1.1.1 | RL-302 X-Real-IP came from 10.0.0.1, which looks like a proxy of yours, and is ignored: no proxy is trusted, so all clients behind it share one quota. If it is a proxy, write limiter.client-ip.trusted-proxies = 10.0.0.1.
            none | evil | X-Forwarded-For: 1.1.1.1 | RL-309 the container returns the peer 'evil', which is not an address;
            net 10.0.0.0/8 | 10.0.0.1 | X-Forwarded-For: 1.1.1.1 |
            net 10.0.0.0/8 | 10.0.0.1 | X-Forwarded-For: 10.0.0.9 |
            net 10.0.0.0/8 | 10.0.0.1 | X-Forwarded-For: garbage, 1.1.1.1 / Forwarded: for=6.6.6.6 |
            net 10.0.0.0/8 | 10.0.0.1 | - |
            net 10.0.0.0/8 | 192.0.2.1 | - |
            net 10.0.0.0/8 | 192.168.0.1 | X-Forwarded-For: 1.1.1.1 | RL-301 X-Forwarded-For came from 192.168.0.1, which is not a trusted proxy, and is ignored.
            net 10.0.0.0/8 | 10.0.0.1 | X-Forwarded-For: 1.1.1.1,,,,,,,,,,,,,,,, |
            net 10.0.0.0/8 | 10.0.0.1 | X-Forwarded-For: 1.1.1.1,,,,,,,,,,,,,,,,, | RL-303 X-Forwarded-For from 10.0.0.1 is malformed at '': more than 16 empty elements had to be read.
            net 10.0.0.0/8 Forwarded | 10.0.0.1 | X-Forwarded-For: 1.1.1.1 | RL-308 the trusted proxy 10.0.0.1 sent X-Forwarded-For and no Forwarded,
            hops 2 Forwarded | 192.0.2.1 | Forwarded: for=1.1.1.1 | RL-304 Forwarded from 192.0.2.1 has 1 hops, and limiter.client-ip.trusted-hops = 2:
            """)
    void eachIsLoggedOnce(String trust, String peer, String headers, String warning) {
        AddressResolver resolver = resolver(trust);
        String[] lines = headers == null ? new String[0] : headers.split(" / ");
        resolve(resolver, peer, lines);
        assertWarned(warning == null ? "" : warning);
        resolve(resolver, peer, lines);
        assertWarned("");
    }

    @Test
    void anExemptAddressThatMayBeAProxyIsLoggedOnce() {
        AddressResolver resolver = resolver("none");
        FakeExchange exchange = new FakeExchange().header("Via", "1.1 p");
        for (int i = 0; i < 3; i++) {
            assertFalse(resolver.isSure(resolver.resolve(exchange.adapted()), exchange.adapted()));
        }
        assertWarned("RL-310 a request from the exempt address 192.0.2.1 carries Via");
    }

    /** One of each kind, whoever causes it. */
    @Test
    void anotherClientCausesNoOther() {
        AddressResolver direct = resolver("none");
        resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned("RL-301 ");
        resolve(direct, "192.0.2.2", "Forwarded: for=1.1.1.1");
        assertWarned("");
        resolve(direct, "10.0.0.1", "X-Real-IP: 1.1.1.1");
        assertWarned("RL-302 ");
        resolve(direct, "fd00::1", "X-Real-IP: 1.1.1.1");
        resolve(direct, null, "X-Real-IP: 1.1.1.1");
        assertWarned("");
    }

    @Test
    void behindTheFirstThousandAboutOneRequestInASecondIsLookedAt() {
        AddressResolver direct = resolver("none");
        // One of 16 behind the first thousand is asked for the time, and the first of those is looked at.
        for (int i = 0; i < 2_000; i++) {
            resolve(direct, "192.0.2.1");
        }
        resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned("");
        time.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 1_000; i++) {
            resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        }
        assertWarned("RL-301 ");
    }

    @ParameterizedTest
    @CsvSource({
        "RL-302, 10.1.1.1 172.16.0.1 172.31.255.255 192.168.1.1 127.0.0.1 fd12::1 0:0:0:0:0:0:0:1 ''",
        "RL-301, 172.32.0.1 192.169.0.1 100.128.0.1 11.0.0.1 2001:db8::1 ::2"
    })
    void everyPrivateNeighbourLooksLikeAProxy(String code, String peers) {
        for (String peer : peers.split(" ")) {
            resolve(resolver("none"), peer.replace("''", ""), "X-Forwarded-For: 1.1.1.1");
            assertWarned(code + " ");
        }
    }

    @Test
    void aMalformedHeaderOnceAMinuteWithHowMany() {
        AddressResolver behind = resolver("net 10.0.0.0/8");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: 1.1.1.1, unknown");
        assertWarned("RL-303 X-Forwarded-For from 10.0.0.1 is malformed at 'unknown': it is not an address. Such"
                + " requests share a separate quota; 1 until now");
        for (int i = 0; i < 100; i++) {
            resolve(behind, "10.0.0.1", "X-Forwarded-For: unknown");
        }
        assertWarned("");
        time.advance(Duration.ofMinutes(1));
        resolve(behind, "10.0.0.1", "X-Forwarded-For: " + "10.0.0.2,".repeat(32) + "10.0.0.2");
        List<String> lines = warnings.taken();
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).startsWith("RL-303 ") && lines.get(0).contains("more than 32 hops"), lines.get(0));
        assertTrue(lines.get(0).contains("102 until now"), lines.get(0));
    }

    @Test
    void fewerHopsThanConfiguredAgainAfterAMinute() {
        AddressResolver counted = resolver("hops 2 Forwarded");
        resolve(counted, "192.0.2.1", "Forwarded: for=1.1.1.1");
        assertWarned("RL-304 ");
        time.advance(Duration.ofMinutes(1));
        resolve(counted, "192.0.2.1");
        assertWarned("RL-304 Forwarded from 192.0.2.1 has 0 hops, ");
    }

    @Test
    void mistakesInTrustedProxiesAreFoundAtStartup() {
        assertEquals(
                List.of(
                        "RL-305 the trusted network 10.0.0.1/8 has bits behind its prefix, so it is 10.0.0.0/8; write that,"
                                + " or /32 if one address was meant"),
                resolver("net 10.0.0.1/8,2001:db8::/32,192.0.2.1").findings());
        List<String> everyPeer = resolver("all").findings();
        assertTrue(everyPeer.get(0).startsWith("RL-306 every peer is trusted to name the client in X-Forwarded-For: "));
        assertEquals(1, everyPeer.size());
        assertEquals(List.of(), resolver("none").findings());
        assertWarned("");
    }

    @Test
    void noClientWritesALineOfTheLog() {
        String evil = "\r\nRL-301 all is well\u001b[31m\u0000\u00e9\ud83d'\\".repeat(1_000);
        AddressResolver behind = resolver("net 10.0.0.0/8 Forwarded");
        resolve(behind, "10.0.0.1", "Forwarded: " + evil);
        time.advance(Duration.ofMinutes(1));
        resolve(behind, "10.0.0.1", "Forwarded: for=\"" + evil.substring(0, 100));
        resolve(behind, evil, "Forwarded: for=1.1.1.1");
        List<String> lines = warnings.taken();
        assertEquals(3 + 1, lines.size(), lines.toString());
        for (String line : lines) {
            assertTrue(line.chars().allMatch(c -> c >= ' ' && c <= '~'), line);
            assertTrue(line.length() < 800, line);
            assertFalse(line.contains("well'"), line);
        }
    }
}
