package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.limiter.address.IpAddress;
import io.limiter.http.ClientAddress;
import io.limiter.http.ClientAddress.Origin;
import io.limiter.http.internal.address.Hops.Form;
import io.limiter.http.internal.address.Hops.Hop;
import io.limiter.http.internal.request.Request;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AddressResolverTest {
    @Test
    void theGrammarOfForwarded() {
        List<String[]> rows = Rows.of("forwarded.txt");
        assertEquals(62, rows.size());
        for (String[] row : rows) {
            List<String> hops = new ArrayList<>();
            Hops found = new Hops(Form.FORWARDED, List.of(row[0]));
            Hop hop = found.next();
            for (; hop != null && !hop.isBroken(); hop = found.next()) {
                IpAddress address = hop.address();
                hops.add(0, address == null ? "-" : address.toString());
            }
            if (hop != null) {
                hops = List.of("broken");
            }
            assertEquals(row[1].equals("\"\"") ? "" : row[1], String.join(" ", hops), row[0]);
        }
    }

    @Test
    void aClientHasOneTextHoweverItsAddressIsSpelled() {
        List<String[]> rows = Rows.of("clients.txt");
        assertEquals(43, rows.size());
        for (String[] row : rows) {
            AddressResolver resolver = AddressResolver.of(Rows.settings("net 10.0.0.1", Integer.parseInt(row[1])));
            ClientAddress client = resolver.resolve("10.0.0.1", Rows.headers("X-Forwarded-For: " + row[0]));
            assertEquals(row[2], client.text(), row[0]);
            assertEquals(row[2].startsWith("!"), client.isMalformed(), row[0]);
            assertEquals(client.isMalformed() ? Origin.PEER : Origin.HEADER, client.origin(), row[0]);
        }
    }

    @Test
    void theWalkEndsWhereTrustEnds() {
        List<String[]> rows = Rows.of("walks.txt");
        assertEquals(130, rows.size());
        for (String[] row : rows) {
            String peer = row[1].equals("-") ? null : row[1];
            ClientAddress client = Rows.resolver(row[0]).resolve(peer, Rows.headers(row[2].split(" / ")));
            assertEquals(row[3], client.text(), String.join(" | ", row));
        }
    }

    @Test
    void aResultSaysWhatItIsMadeOf() {
        AddressResolver resolver = Rows.resolver("net 10.0.0.0/8");
        ClientAddress client = resolver.resolve("10.0.0.1", Rows.headers("X-Forwarded-For: 2001:db8:1:2::3"));
        assertEquals(Optional.of(IpAddress.parse("2001:db8:1:2::3")), client.address());
        assertEquals("2001:db8:1:2::/64", client.toString());
        assertEquals("2001:db8:1::/48", client.text(48));
        assertEquals("2001:db8:1:2::3", client.text(128));
        assertThrows(IllegalArgumentException.class, () -> client.text(0));
        assertThrows(IllegalArgumentException.class, () -> client.text(129));

        ClientAddress peer = resolver.resolve("192.0.2.1", Rows.headers());
        assertEquals(Origin.PEER, peer.origin());
        assertEquals(peer, resolver.resolve("::ffff:192.0.2.1", Rows.headers()));
        assertEquals(
                peer.hashCode(),
                resolver.resolve("::ffff:192.0.2.1", Rows.headers()).hashCode());
        assertNotEquals(peer, client);
        assertNotEquals(
                resolver.resolve("10.0.0.1", Rows.headers()),
                resolver.resolve("10.0.0.1", Rows.headers("X-Forwarded-For: x")));

        ClientAddress none = resolver.resolve(null, Rows.headers());
        assertEquals(Origin.NONE, none.origin());
        assertEquals(Optional.empty(), none.address());
        assertFalse(none.isMalformed());
        assertEquals(none, resolver.resolve("", Rows.headers()));
        assertTrue(resolver.resolve("evil", Rows.headers()).isMalformed());
    }

    @Test
    void aRequestIsAskedForItsPeerAndAllLinesOfTheOneHeader() {
        HttpServletRequest sent = mock(HttpServletRequest.class);
        when(sent.getRemoteAddr()).thenReturn("10.0.0.1");
        when(sent.getHeaders("X-Forwarded-For"))
                .then(call -> Collections.enumeration(List.of("6.6.6.6", "1.1.1.1, 10.0.0.2")));
        Request request = new ServletHttpRequest(sent);
        assertEquals("1.1.1.1", Rows.resolver("net 10.0.0.0/8").resolve(request).text());
        // The other headers of this request are null, as from a container that lets nobody see them.
        assertEquals(
                "10.0.0.1",
                Rows.resolver("net 10.0.0.0/8 Forwarded").resolve(request).text());
        assertEquals("10.0.0.1", Rows.resolver("none").resolve(request).text());
    }

    @Test
    void whatIsLookedAtIsBounded() {
        AddressResolver list = Rows.resolver("net 10.0.0.0/8");
        AddressResolver forwarded = Rows.resolver("net 10.0.0.0/8 Forwarded");
        AddressResolver single = Rows.resolver("net 10.0.0.0/8 X-Real-IP");
        String junk = "x".repeat(70_000);

        // What the client wrote in front of what a proxy added is not looked at; a quote that begins there would be.
        assertEquals("1.1.1.1", text(list, "X-Forwarded-For:" + junk + ",1.1.1.1"));
        assertEquals("1.1.1.1", text(list, "X-Forwarded-For:" + ",".repeat(70_000) + "1.1.1.1"));
        assertEquals("!10.0.0.1", text(forwarded, "Forwarded:" + junk + ",for=1.1.1.1"));
        assertEquals("1.1.1.1", text(forwarded, "Forwarded:" + junk, "Forwarded:for=1.1.1.1"));

        assertEquals("!10.0.0.1", text(list, "X-Forwarded-For:1.1.1.1," + junk));
        assertEquals("!10.0.0.1", text(list, "X-Forwarded-For:1.1.1.1" + " ".repeat(9_000)));
        assertEquals("!10.0.0.1", text(single, "X-Real-IP:" + junk));
        assertEquals("!10.0.0.1", text(forwarded, "Forwarded:for=1.1.1.1;x=" + junk));

        String hops = "10.0.0.2, ".repeat(31);
        assertEquals("1.1.1.1", text(list, "X-Forwarded-For:1.1.1.1, " + hops.substring(0, hops.length() - 2)));
        assertEquals("10.0.0.2", text(list, "X-Forwarded-For:" + hops + "10.0.0.2"));
        assertEquals("!10.0.0.2", text(list, "X-Forwarded-For:1.1.1.1, " + hops + "10.0.0.2"));
        String[] lines = Collections.nCopies(5_000, "X-Forwarded-For:10.0.0.2").toArray(new String[0]);
        assertEquals("!10.0.0.2", text(list, lines));
        lines[4_990] = "X-Forwarded-For:1.1.1.1";
        assertEquals("1.1.1.1", text(list, lines));

        String pairs = "for=10.0.0.2;x=" + "y".repeat(500) + ",";
        assertEquals("10.0.0.2", text(forwarded, "Forwarded:" + pairs.repeat(15) + "for=10.0.0.2"));
        assertEquals("!10.0.0.1", text(forwarded, "Forwarded:" + pairs.repeat(16) + "for=10.0.0.2"));
    }

    private static String text(AddressResolver resolver, String... headers) {
        return resolver.resolve("10.0.0.1", Rows.headers(headers)).text();
    }
}
