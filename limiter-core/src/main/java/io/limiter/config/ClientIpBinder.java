package io.limiter.config;

import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes of the {@code limiter.client-ip} entries how clients are found, and notes what is wrong. Used once. */
final class ClientIpBinder {
    /** Everybody is a proxy. Not a network, so that nobody trusts the Internet by a slip of a prefix. */
    private static final String ALL = "all";

    private static final String UNIX = "unix";
    private static final int MOST_PROXIES = 1_000;
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern NUMBERS = Pattern.compile("[0-9A-Fa-f:./]{1,50}");
    private static final Pattern EVERYBODY = Pattern.compile("[^/]*/0+");

    private final Binder binder;
    private final Map<String, ConfigEntry> single;
    private final Problems problems;

    ClientIpBinder(Binder binder, Map<String, ConfigEntry> single, Problems problems) {
        this.binder = binder;
        this.single = single;
        this.problems = problems;
    }

    private record Proxies(List<IpNetwork> networks, boolean unix, boolean all) {
        static final Proxies NONE = new Proxies(List.of(), false, false);
    }

    ClientIpSettings bind() {
        if (!Keys.isAny(Keys.CLIENT_IP, single.keySet())) {
            return ClientIpSettings.DEFAULT;
        }
        ConfigEntry proxiesEntry = single.get(Keys.TRUSTED_PROXIES);
        ConfigEntry hopsEntry = single.get(Keys.TRUSTED_HOPS);
        ConfigEntry headerEntry = single.get(Keys.CLIENT_HEADER);
        Proxies proxies = binder.bound(proxiesEntry, Proxies.NONE, ClientIpBinder::proxies);
        int hops = binder.bound(hopsEntry, 0, text -> (int) Binder.whole(text, 1, ClientIpSettings.MAX_HOPS));
        String header = binder.bound(headerEntry, "", ClientIpBinder::header);
        int prefix = binder.bound(
                single.get(Keys.CLIENT_IPV6_PREFIX), ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS, ClientIpBinder::bits);
        if (!fitTogether(proxiesEntry, hopsEntry, headerEntry, header)) {
            return new ClientIpSettings(List.of(), false, false, 0, null, prefix);
        }
        boolean trusting = hops > 0 || !proxies.equals(Proxies.NONE);
        return new ClientIpSettings(
                proxies.networks(),
                proxies.unix(),
                proxies.all(),
                hops,
                !trusting ? null : header.isEmpty() ? ClientIpSettings.X_FORWARDED_FOR : header,
                prefix);
    }

    /** Whether the properties, each right alone or not, say one thing together; what they do not is noted. */
    private boolean fitTogether(
            @Nullable ConfigEntry proxies,
            @Nullable ConfigEntry hops,
            @Nullable ConfigEntry header,
            String headerName) {
        boolean fit = true;
        if (proxies != null && hops != null) {
            problems.add(
                    Problems.CONTRADICTION,
                    hops,
                    Keys.TRUSTED_PROXIES + " says already who is trusted; keep one of the two, the proxies if you know"
                            + " their addresses");
            fit = false;
        }
        if (header != null && proxies == null && hops == null) {
            problems.add(
                    Problems.MISSING,
                    header,
                    "anybody can send this header; add " + Keys.TRUSTED_PROXIES
                            + " = 10.0.0.0/8 (where your proxies are), or " + Keys.TRUSTED_HOPS
                            + " = 1, or remove this line");
            fit = false;
        }
        if (hops != null && !headerName.isEmpty() && header != null && ClientIpSettings.isSingle(headerName)) {
            problems.add(
                    Problems.CONTRADICTION,
                    header,
                    "such a header holds one address and has no hops to count; write " + Keys.TRUSTED_PROXIES
                            + " instead of " + Keys.TRUSTED_HOPS + ", or the header X-Forwarded-For or Forwarded");
            fit = false;
        }
        return fit;
    }

    private static Proxies proxies(String text) {
        List<IpNetwork> networks = new ArrayList<>();
        List<String> mistakes = new ArrayList<>();
        boolean unix = false;
        boolean all = false;
        String[] items = text.split(",", -1);
        if (items.length > MOST_PROXIES) {
            throw new IllegalArgumentException(
                    items.length + " networks are more than " + MOST_PROXIES + "; join neighbours to larger ones");
        }
        for (String item : items) {
            String proxy = item.strip();
            if (proxy.equalsIgnoreCase(ALL)) {
                all = true;
            } else if (proxy.equalsIgnoreCase(UNIX)) {
                unix = true;
            } else {
                try {
                    networks.add(network(proxy));
                } catch (IllegalArgumentException e) {
                    mistakes.add(String.valueOf(e.getMessage()));
                }
            }
        }
        if (all && items.length > 1) {
            mistakes.add("'" + ALL + "' is everybody and stands alone; remove it, or the others");
        }
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(String.join("; and ", mistakes));
        }
        return new Proxies(networks, unix, all);
    }

    private static IpNetwork network(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(
                    "an item is empty; write networks such as 10.0.0.0/8, separated by one comma");
        }
        if (!NUMBERS.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + Problems.shown(text) + "' is no network; write an address and the"
                    + " bits of its prefix, such as 10.0.0.0/8 or 2001:db8::/32 (numbers, no name), or " + UNIX
                    + " for a proxy on a Unix socket");
        }
        if (EVERYBODY.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' would trust everybody; write the networks of your proxies, or the word " + ALL
                    + " where nobody else can connect");
        }
        IpNetwork network = IpNetwork.parse(text);
        if (network.prefixBits() == network.address().bits()
                && network.address().isUnspecified()) {
            throw new IllegalArgumentException("'" + text + "' is the address of nobody; write that of your proxy");
        }
        return network;
    }

    private static String header(String text) {
        if (!HEADER.matcher(text).matches()) {
            throw new IllegalArgumentException("no name of one header; write X-Forwarded-For, Forwarded, or the header"
                    + " in which your proxy writes the client's address alone, such as X-Real-IP");
        }
        List<String> lists = List.of(ClientIpSettings.X_FORWARDED_FOR, ClientIpSettings.FORWARDED);
        // Any other name would be taken as a header with one address: a slip would make every list malformed.
        String meant = ClientIpSettings.isSingle(text) ? Suggestion.of(text, lists, 2) : "";
        if (!meant.isEmpty()) {
            throw new IllegalArgumentException("no header that proxies set" + meant);
        }
        return text;
    }

    private static int bits(String text) {
        return (int) Binder.whole(text, ClientIpSettings.LEAST_IPV6_PREFIX_BITS, IpAddress.IPV6_BITS);
    }

    /** The bits that a rule with this key writes. */
    static int prefix(String text, List<KeyPart> key) {
        if (key.isEmpty()) {
            throw new IllegalArgumentException(
                    "the key of this rule is global and has no address; remove this line, or write another key");
        }
        return bits(text);
    }
}
