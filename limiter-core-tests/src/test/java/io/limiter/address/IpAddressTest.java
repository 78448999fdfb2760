package io.limiter.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Vectors;
import java.util.List;
import org.junit.jupiter.api.Test;

class IpAddressTest {
    @Test
    void aLiteralMeansOneAddressOrNone() {
        List<String[]> rows = Vectors.rows(IpAddressTest.class, "literals.txt");
        assertEquals(81, rows.size());
        for (String[] row : rows) {
            String literal = Vectors.unescaped(row[0].substring(1, row[0].length() - 1));
            IpAddress address = IpAddress.parse(literal);
            assertEquals(row[1], address == null ? "none" : address.toString(), row[0]);
            if (address != null) {
                assertEquals(address, IpAddress.parse(address.toString()), row[0]);
                assertEquals(
                        address.hashCode(), IpAddress.parse(address.toString()).hashCode(), row[0]);
            }
        }
    }

    @Test
    void aNetworkIsReadOrRefusedWithItsReason() {
        List<String[]> rows = Vectors.rows(IpAddressTest.class, "networks.txt");
        assertEquals(39, rows.size());
        for (String[] row : rows) {
            if (row[1].startsWith("error: ")) {
                String message = assertThrows(IllegalArgumentException.class, () -> IpNetwork.parse(row[0]), row[0])
                        .getMessage();
                assertTrue(message.contains(row[1].substring(7)), row[0] + ": " + message);
                assertTrue(message.startsWith("'" + row[0] + "' "), message);
            } else {
                IpNetwork network = IpNetwork.parse(row[0]);
                assertEquals(row[1], network.withoutHostBits() + (network.hasHostBits() ? " *" : ""), row[0]);
                assertTrue(network.contains(network.address()), row[0]);
            }
        }
    }

    @Test
    void noNetworkOfOneFamilyHoldsAnAddressOfTheOther() {
        IpNetwork low = IpNetwork.parse("::/1");
        IpNetwork private10 = IpNetwork.parse("10.0.0.0/8");
        assertTrue(low.contains(of("::ffff:10.0.0.1")));
        assertTrue(private10.contains(of("::ffff:10.0.0.1").unmapped()));
        assertEquals(false, low.contains(of("10.0.0.1")));
        assertEquals(false, private10.contains(of("::ffff:10.0.0.1")));
        assertEquals(false, private10.contains(of("::10.0.0.1")));
        assertEquals(false, IpNetwork.parse("0.0.0.1").contains(of("::1")));
    }

    @Test
    void mappedAndTranslatedAddressesAreUnwrapped() {
        assertEquals(of("192.0.2.1"), of("::FFFF:C000:0201").unmapped());
        assertEquals(of("192.0.2.1"), of("64:ff9b::192.0.2.1").untranslated());
        for (String other : List.of(
                "::192.0.2.1",
                "::fffe:192.0.2.1",
                "::1:ffff:192.0.2.1",
                "1::ffff:192.0.2.1",
                "64:ff9b:1::192.0.2.1",
                "64:ff9b::1:192.0.2.1",
                "2002:c000:201::",
                "2001:db8::1.2.3.4",
                "192.0.2.1")) {
            assertEquals(of(other), of(other).unmapped(), other);
            assertEquals(of(other), of(other).untranslated(), other);
        }
    }

    @Test
    void aPrefixIsWithinTheAddress() {
        assertEquals(of("::"), of("ffff::1").masked(0));
        assertEquals(of("2001:db8::1"), of("2001:db8::1").masked(128));
        assertEquals(of("255.255.255.254"), of("255.255.255.255").masked(31));
        assertThrows(IllegalArgumentException.class, () -> of("::").masked(129));
        assertThrows(IllegalArgumentException.class, () -> of("1.1.1.1").masked(33));
        assertThrows(IllegalArgumentException.class, () -> of("::").masked(-1));
        assertThrows(IllegalArgumentException.class, () -> new IpNetwork(of("1.1.1.1"), 0));
        assertThrows(IllegalArgumentException.class, () -> new IpNetwork(of("1.1.1.1"), 33));
    }

    @Test
    void aLongTextIsNotReadToItsEnd() {
        assertNull(IpAddress.parse("1.2.3.4" + "0".repeat(70_000)));
        assertNull(IpAddress.parse(":".repeat(70_000)));
    }

    private static IpAddress of(String literal) {
        IpAddress address = IpAddress.parse(literal);
        assertTrue(address != null, literal);
        return address;
    }
}
