package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.address.IpNetwork;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.servlet.FakeExchange;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which warnings are logged, and how often. */
class ProxyWarningsTest {
    private final Warnings warnings = new Warnings();
    private final ManualTime time = new ManualTime();

    private AddressResolver resolver(String header, String... networks) {
        return resolver(new ClientIpSettings(
                Stream.of(networks).map(IpNetwork::parse).toList(),
                false,
                false,
                0,
                header,
                64,
                ClientIpSettings.Source.AUTO));
    }

    private AddressResolver resolver(ClientIpSettings settings) {
        return new AddressResolver(settings, warnings.logger(), time);
    }

    private void resolve(AddressResolver resolver, String peer, String... headers) {
        resolver.resolve(peer, Rows.headers(headers));
    }

    private void assertWarned(String... beginnings) {
        List<String> lines = warnings.taken();
        assertEquals(
                List.of(beginnings),
                lines.stream()
                        .map(line -> Stream.of(beginnings)
                                .filter(line::startsWith)
                                .findFirst()
                                .orElse(line))
                        .toList());
    }

    @Test
    void anExemptAddressThatMayBeAProxyIsLoggedOnce() {
        AddressResolver resolver = resolver(ClientIpSettings.DEFAULT);
        FakeExchange exchange = new FakeExchange().header("Via", "1.1 p");
        for (int i = 0; i < 3; i++) {
            assertFalse(resolver.isSure(resolver.resolve(exchange.adapted()), exchange.adapted()));
        }
        assertWarned("RL-310 a request from the exempt address 192.0.2.1 carries Via");
    }

    @Test
    void ordinaryTrafficSaysNothing() {
        AddressResolver direct = resolver(ClientIpSettings.DEFAULT);
        resolve(direct, "192.0.2.1");
        resolve(direct, "127.0.0.1");
        resolve(direct, null);
        AddressResolver behind = resolver("X-Forwarded-For", "10.0.0.0/8");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: 1.1.1.1");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: 10.0.0.9");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: garbage, 1.1.1.1", "Forwarded: for=6.6.6.6");
        resolve(behind, "10.0.0.1");
        resolve(behind, "192.0.2.1");
        assertWarned();
    }

    @Test
    void aHeaderThatNobodyReads() {
        AddressResolver direct = resolver(ClientIpSettings.DEFAULT);
        resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned("RL-301 X-Forwarded-For came from 192.0.2.1, which is not a trusted proxy, and is ignored. ");
        resolve(direct, "192.0.2.2", "Forwarded: for=1.1.1.1");
        assertWarned();
        resolve(direct, "::ffff:10.0.0.1", "X-Real-IP: 1.1.1.1");
        assertWarned("RL-302 X-Real-IP came from 10.0.0.1, which looks like a proxy of yours, and is ignored: ");
        resolve(direct, "fd00::1", "X-Real-IP: 1.1.1.1");
        resolve(direct, null, "X-Real-IP: 1.1.1.1");
        assertWarned();
    }

    @Test
    void behindTheFirstThousandAboutOneRequestInASecondIsLookedAt() {
        AddressResolver direct = resolver(ClientIpSettings.DEFAULT);
        // One of 16 behind the first thousand is asked for the time, and the first of those is looked at.
        for (int i = 0; i < 2_000; i++) {
            resolve(direct, "192.0.2.1");
        }
        resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned();
        time.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 1_000; i++) {
            resolve(direct, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        }
        assertWarned("RL-301 ");
    }

    @Test
    void everyPrivateNeighbourLooksLikeAProxy() {
        for (String peer : List.of(
                "10.1.1.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "127.0.0.1",
                "fd12::1",
                "0:0:0:0:0:0:0:1",
                "")) {
            resolve(resolver(ClientIpSettings.DEFAULT), peer, "X-Forwarded-For: 1.1.1.1");
            assertWarned("RL-302 ");
        }
        for (String peer : List.of("172.32.0.1", "192.169.0.1", "100.128.0.1", "11.0.0.1", "2001:db8::1", "::2")) {
            resolve(resolver(ClientIpSettings.DEFAULT), peer, "X-Forwarded-For: 1.1.1.1");
            assertWarned("RL-301 ");
        }
    }

    @Test
    void aHeaderFromWhoIsNoProxy() {
        AddressResolver behind = resolver("X-Forwarded-For", "10.0.0.0/8");
        resolve(behind, "192.168.0.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned("RL-301 X-Forwarded-For came from 192.168.0.1, which is not a trusted proxy, and is ignored. ");
        resolve(behind, "192.0.2.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned();
    }

    @Test
    void aProxyThatWritesAnotherHeader() {
        AddressResolver behind = resolver("Forwarded", "10.0.0.0/8");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: 1.1.1.1");
        assertWarned("RL-308 the trusted proxy 10.0.0.1 sent X-Forwarded-For and no Forwarded, ");
        resolve(behind, "10.0.0.1", "X-Real-IP: 1.1.1.1");
        assertWarned();
    }

    @Test
    void aMalformedHeaderOnceAMinuteWithHowMany() {
        AddressResolver behind = resolver("X-Forwarded-For", "10.0.0.0/8");
        resolve(behind, "10.0.0.1", "X-Forwarded-For: 1.1.1.1, unknown");
        assertWarned("RL-303 X-Forwarded-For from 10.0.0.1 is malformed at 'unknown': it is not an address. Such"
                + " requests share a separate quota; 1 until now");
        for (int i = 0; i < 100; i++) {
            resolve(behind, "10.0.0.1", "X-Forwarded-For: unknown");
        }
        assertWarned();
        time.advance(Duration.ofMinutes(1));
        resolve(behind, "10.0.0.1", "X-Forwarded-For: " + "10.0.0.2,".repeat(32) + "10.0.0.2");
        List<String> lines = warnings.taken();
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).startsWith("RL-303 ") && lines.get(0).contains("more than 32 hops"), lines.get(0));
        assertTrue(lines.get(0).contains("102 until now"), lines.get(0));
    }

    @Test
    void tooManyEmptyElements() {
        resolve(resolver("X-Forwarded-For", "10.0.0.0/8"), "10.0.0.1", "X-Forwarded-For: 1.1.1.1" + ",".repeat(16));
        assertWarned();
        resolve(resolver("X-Forwarded-For", "10.0.0.0/8"), "10.0.0.1", "X-Forwarded-For: 1.1.1.1" + ",".repeat(17));
        assertWarned(
                "RL-303 X-Forwarded-For from 10.0.0.1 is malformed at '': more than 16 empty elements had to be read. ");
    }

    @Test
    void fewerHopsThanConfigured() {
        AddressResolver counted = resolver(
                new ClientIpSettings(List.of(), false, false, 2, "Forwarded", 64, ClientIpSettings.Source.AUTO));
        resolve(counted, "192.0.2.1", "Forwarded: for=1.1.1.1");
        assertWarned("RL-304 Forwarded from 192.0.2.1 has 1 hops, and limiter.client-ip.trusted-hops = 2: ");
        resolve(counted, "192.0.2.1");
        assertWarned();
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
                resolver("X-Forwarded-For", "10.0.0.1/8", "2001:db8::/32", "192.0.2.1")
                        .findings());
        List<String> everyPeer = resolver(new ClientIpSettings(
                        List.of(), false, true, 0, "X-Forwarded-For", 64, ClientIpSettings.Source.AUTO))
                .findings();
        assertTrue(everyPeer.get(0).startsWith("RL-306 every peer is trusted to name the client in X-Forwarded-For: "));
        assertEquals(1, everyPeer.size());
        assertEquals(List.of(), resolver(ClientIpSettings.DEFAULT).findings());
        assertWarned();
    }

    @Test
    void aPeerThatIsNoAddress() {
        AddressResolver direct = resolver(ClientIpSettings.DEFAULT);
        resolve(direct, "evil", "X-Forwarded-For: 1.1.1.1");
        assertWarned("RL-309 the container returns the peer 'evil', which is not an address; ");
        resolve(direct, "evil");
        assertWarned();
    }

    @Test
    void noClientWritesALineOfTheLog() {
        String evil = "\r\nRL-301 all is well\u001b[31m\u0000\u00e9\ud83d'\\".repeat(1_000);
        AddressResolver behind = resolver("Forwarded", "10.0.0.0/8");
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
