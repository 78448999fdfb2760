package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Vulnerabilities of other software; advisories.txt maps advisories to methods. */
class AdvisoriesTest {
    private static String client(String trust, String peer, String... headers) {
        return Rows.resolver(trust).resolve(peer, Rows.headers(headers)).text();
    }

    private static String direct(String peer, String... headers) {
        return client("none", peer, headers);
    }

    private static String behind(String peer, String... headers) {
        return client("net 10.0.0.0/8", peer, headers);
    }

    @Test
    void eachAdvisoryHasATestOrASentence() throws IOException {
        List<String[]> rows = Rows.of("advisories.txt");
        Set<String> advisories = new HashSet<>();
        for (String[] row : rows) {
            assertTrue(row[0].matches("CVE-[0-9]{4}-[0-9]{4,6}|GHSA(-[a-z0-9]{4}){3}"), row[0]);
            assertTrue(advisories.add(row[0]), row[0] + " is there twice");
            if (row[1].startsWith("sentence: ")) {
                assertTrue(row[1].length() > 80 && row[1].endsWith("."), row[1]);
                continue;
            }
            String[] test = row[1].split(" ", -1);
            assertEquals(3, test.length, row[1]);
            String source = source(test[0], test[1] + ".java");
            assertTrue(source.contains("void " + test[2] + "("), row[0] + ": there is no test " + row[1]);
        }
        assertEquals(30, advisories.size());
    }

    /** Of a module, or of the one that has those of its tests that use the kit. */
    private static String source(String module, String file) throws IOException {
        for (String name : List.of(module, module + "-tests")) {
            Path folder = Path.of("..", name, "src", "test", "java");
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    Optional<Path> found =
                            files.filter(path -> path.endsWith(file)).findFirst();
                    if (found.isPresent()) {
                        return Files.readString(found.get());
                    }
                }
            }
        }
        throw new AssertionError(module + " has no " + file);
    }

    @Test
    void mappedClientsAreNotOne() {
        assertNotEquals(direct("::ffff:192.0.2.1"), direct("::ffff:192.0.2.2"));
    }

    @Test
    void aClientHasOneQuotaInBothSpellings() {
        assertEquals(direct("1.2.3.4"), direct("::ffff:1.2.3.4"));
        assertEquals(direct("1.2.3.4"), behind("10.0.0.1", "X-Forwarded-For: ::ffff:102:304"));
    }

    @Test
    void aThousandAddressesOfOneSubscriberAreOneClient() {
        Set<String> clients = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            clients.add(direct(String.format("2001:db8:1:2:%x:%x::%x", i * 7, i * 13, i)));
        }
        assertEquals(Set.of("2001:db8:1:2::/64"), clients);
    }

    @Test
    void aMappedNetworkIsNotAllOfIpv4() {
        assertThrows(IllegalArgumentException.class, () -> IpNetwork.parse("::ffff:10.0.0.0/8"));
        assertThrows(IllegalArgumentException.class, () -> Rows.resolver("net ::ffff:10.0.0.0/8"));
        assertEquals("192.0.2.1", client("net ::ffff:10.0.0.0/104", "192.0.2.1", "X-Forwarded-For: 1.1.1.1"));
    }

    @Test
    void aBareIpv6AddressIsOneHost() {
        assertEquals("1.1.1.1", client("net 2001:db8::1", "2001:db8::1", "X-Forwarded-For: 1.1.1.1"));
        assertEquals("2001:db8::/64", client("net 2001:db8::1", "2001:db8::2", "X-Forwarded-For: 1.1.1.1"));
    }

    @Test
    void changingClaimsOfOnePeerAreOneClient() {
        Set<String> clients = new HashSet<>();
        for (int i = 0; i < 256; i++) {
            clients.add(direct("192.0.2.1", "X-Forwarded-For: 1.1.1." + i));
            clients.add(behind("192.0.2.1", "X-Forwarded-For: 1.1.1." + i, "Forwarded: for=1.1.1." + i));
        }
        assertEquals(Set.of("192.0.2.1"), clients);
    }

    @Test
    void theLeftmostAddressIsNotTaken() {
        assertEquals("192.0.2.1", behind("10.0.0.1", "X-Forwarded-For: 6.6.6.6, 192.0.2.1"));
    }

    @Test
    void manyLinesAreOneList() {
        String[] lines = new String[1_000];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = "X-Forwarded-For: 6.6." + i / 256 + "." + i % 256;
        }
        lines[lines.length - 1] = "X-Forwarded-For: 192.0.2.1";
        assertEquals("192.0.2.1", behind("10.0.0.1", lines));
        assertEquals("192.0.2.1", direct("192.0.2.1", lines));
    }

    @Test
    void nobodyIsTrustedUnlessConfigured() {
        for (String peer : List.of("192.0.2.1", "127.0.0.1", "10.0.0.1")) {
            assertEquals(
                    peer, direct(peer, "X-Forwarded-For: 1.1.1.1", "Forwarded: for=1.1.1.1", "X-Real-IP: 1.1.1.1"));
        }
        assertThrows(IllegalArgumentException.class, () -> Rows.resolver("net 0.0.0.0/0"));
        assertThrows(IllegalArgumentException.class, () -> Rows.resolver("net *"));
    }

    @Test
    void aDirectCallerIsNotLoopback() {
        assertEquals("192.0.2.1", direct("192.0.2.1", "X-Forwarded-For: 127.0.0.1"));
        assertEquals("192.0.2.1", behind("192.0.2.1", "X-Forwarded-For: 127.0.0.1"));
    }

    @Test
    void headersOfUntrustedProxiesAreNotRead() {
        for (String header : List.of("X-Forwarded-For: 1.1.1.1", "Forwarded: for=1.1.1.1")) {
            assertEquals("11.0.0.1", behind("11.0.0.1", header));
        }
    }

    @Test
    void aHeaderThatWasTakenAwayFreesNobody() {
        assertEquals("10.0.0.1", behind("10.0.0.1", "Connection: X-Forwarded-For"));
        assertEquals("10.0.0.1", behind("10.0.0.1", "Connection: X-Forwarded-For", "Forwarded: for=6.6.6.6"));
    }

    @Test
    void privateNeighboursAreNotTrusted() {
        for (String peer : List.of("10.0.0.1", "172.16.0.1", "192.168.0.1", "127.0.0.1", "169.254.0.1", "100.64.0.1")) {
            assertEquals(peer, direct(peer, "X-Forwarded-For: 1.1.1.1"));
        }
        assertEquals("fd00::/64", direct("fd00::1", "X-Forwarded-For: 1.1.1.1"));
        assertEquals("192.168.0.1", behind("192.168.0.1", "X-Forwarded-For: 1.1.1.1"));
    }

    /** Nothing could look one up: WallsTest lets no class of this module know InetAddress. */
    @Test
    void namesAreNotLookedUp() {
        for (String name : List.of("unknown", "_hidden", "localhost", "attacker.example", "1", "0x7f.1")) {
            assertEquals("!10.0.0.1", behind("10.0.0.1", "X-Forwarded-For: " + name));
        }
    }

    @Test
    void leadingZerosAreRefused() {
        assertEquals(null, IpAddress.parse("010.0.0.1"));
        assertThrows(IllegalArgumentException.class, () -> IpNetwork.parse("010.0.0.0/8"));
        assertEquals("!10.0.0.1", behind("10.0.0.1", "X-Forwarded-For: 010.0.0.2"));
        assertEquals("!unknown", direct("0127.0.0.1"));
    }

    @Test
    void xRealIpOfAClientIsNotRead() {
        assertEquals("192.0.2.1", client("net 10.0.0.0/8 X-Real-IP", "192.0.2.1", "X-Real-IP: 127.0.0.1"));
        assertEquals("127.0.0.1", direct("127.0.0.1", "X-Real-IP: 6.6.6.6"));
    }
}
