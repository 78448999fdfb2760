package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.http.ClientAddress;
import io.limiter.http.internal.address.ProxyWarnings.Shown;
import io.limiter.kit.door.Chains;
import io.limiter.kit.door.Chains.Trust;
import io.limiter.kit.door.NaiveWalk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

/** What nobody should send, many times over. */
final class AddressFuzz {
    private static final Pattern TEXT = Pattern.compile("!?(?:unknown|[0-9.]{7,15}|[0-9a-f:]{2,39}(?:/[0-9]{2,3})?)");
    private static final String PROXY = "10.0.0.1";

    private final Chains chains;
    private final Random random;

    /** Which group of addresses has which bucket: one each. */
    private final Map<String, String> groups = new HashMap<>();

    private AddressFuzz(long seed) {
        this.chains = new Chains(seed);
        this.random = chains.random();
    }

    /** Headers with which a caller means to be another one, or nobody, or to break something. */
    static void headers(int cases, long seed) {
        AddressFuzz fuzz = new AddressFuzz(seed);
        for (int i = 0; i < cases; i++) {
            switch (i % 3) {
                case 0 -> fuzz.aHeaderFromNobodyChangesNothing();
                case 1 -> fuzz.whatAProxyAddsCounts();
                default -> fuzz.anything();
            }
        }
    }

    /** Peers that are addresses, nearly, or not at all; a naive parser agrees on each. */
    static void addresses(int cases, long seed) {
        AddressFuzz fuzz = new AddressFuzz(seed);
        AddressResolver resolver = Rows.resolver("none");
        NaiveWalk naive = new NaiveWalk(List.of(), false, 0, null, 64);
        for (int i = 0; i < cases; i++) {
            String peer = fuzz.nearly();
            String text = checked(resolver.resolve(peer, name -> List.of()));
            assertEquals(naive.text(peer, List.of()), text, () -> new Shown(peer).toString());
        }
    }

    private String nearly() {
        if (random.nextInt(10) == 0) {
            return chains.odd();
        }
        StringBuilder text = new StringBuilder(chains.node(random.nextBoolean()));
        String odd = chains.odd();
        for (int i = random.nextInt(3); i > 0 && !odd.isEmpty(); i--) {
            char other = odd.charAt(random.nextInt(odd.length()));
            int at = random.nextInt(text.length() + 1);
            if (random.nextBoolean() || at == text.length()) {
                text.insert(at, other);
            } else {
                text.setCharAt(at, other);
            }
        }
        return text.toString();
    }

    private void aHeaderFromNobodyChangesNothing() {
        boolean none = random.nextBoolean();
        String header = chains.header();
        AddressResolver resolver = Rows.resolver(none ? "none" : "net 10.0.0.0/8,fd00::/8 " + header);
        String peer = caller();
        List<String> lines = claims(header);
        ClientAddress client = resolver.resolve(peer, name -> lines);
        assertEquals(expected(peer), checked(client), () -> "from " + peer + ": " + shown(lines));
    }

    private void whatAProxyAddsCounts() {
        boolean forwarded = random.nextBoolean();
        String header = forwarded ? "Forwarded" : "X-Forwarded-For";
        AddressResolver resolver = Rows.resolver("net 10.0.0.0/8,fd00::/8 " + header);
        String caller = caller();
        List<String> lines = claims(header);
        String node = caller.contains(":") ? "[" + caller + "]" : caller;
        String hop = forwarded ? "for=\"" + node + "\"" : random.nextBoolean() ? caller : node;
        boolean sameLine = !lines.isEmpty() && random.nextBoolean();
        if (sameLine) {
            lines.set(lines.size() - 1, lines.get(lines.size() - 1) + ", " + hop);
        } else {
            lines.add(hop);
        }
        String text = checked(resolver.resolve(PROXY, name -> lines));
        // A client with an unterminated quote makes the proxy's line malformed, and shares the quota of such clients.
        if (!(forwarded && sameLine && text.equals("!" + PROXY))) {
            assertEquals(expected(caller), text, () -> shown(lines));
        }
    }

    private void anything() {
        Trust trust = chains.trust();
        List<String> lines = claims(String.valueOf(trust.header()));
        if (random.nextInt(50) == 0) {
            lines.add(null);
        }
        String peer = random.nextInt(10) == 0 ? chains.odd() : random.nextInt(20) == 0 ? null : chains.peer();
        checked(Rows.resolver(trust).resolve(peer, name -> lines));
    }

    private List<String> claims(String header) {
        List<String> lines = new ArrayList<>(chains.lines(header));
        for (int i = random.nextInt(3); i > 0; i--) {
            lines.add(chains.odd());
        }
        return lines;
    }

    /** Somebody on the Internet. */
    private String caller() {
        return random.nextBoolean()
                ? "198.51." + random.nextInt(256) + "." + random.nextInt(256)
                : String.format(
                        "2001:db8:%x:%x::%x", random.nextInt(65_536), random.nextInt(65_536), random.nextInt(9));
    }

    /** The bucket of a caller, made by hand, and never that of another one. */
    private String expected(String caller) {
        String bucket = new NaiveWalk(List.of(), false, 0, null, 64).text(caller, List.of());
        String group = caller.contains(":") ? caller.substring(0, caller.indexOf("::")) : caller;
        String known = groups.putIfAbsent(bucket, zeroless(group));
        assertTrue(known == null || known.equals(zeroless(group)), () -> known + " and " + group + " share " + bucket);
        return bucket;
    }

    private static String zeroless(String group) {
        return group.replaceAll("(:0)+$", "");
    }

    private static String checked(ClientAddress client) {
        String text = client.text();
        assertTrue(TEXT.matcher(text).matches() && text.length() <= 44, () -> new Shown(text).toString());
        assertEquals(text.startsWith("!"), client.isMalformed(), text);
        String key = PartitionKey.of(text).canonical();
        assertTrue(key.indexOf('{') < 0 && key.indexOf('}') < 0 && key.length() <= PartitionKey.MAX_PART, key);
        return text;
    }

    private static String shown(List<String> lines) {
        return lines.stream().map(line -> new Shown(String.valueOf(line))).toList() + " of "
                + lines.stream().map(line -> String.valueOf(line).length()).toList();
    }
}
