package io.limiter.http.internal.address;

import io.limiter.address.IpNetwork;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.kit.Vectors;
import io.limiter.kit.door.Chains.Trust;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** Tables of test vectors, and requests made of text. */
final class Rows {
    private Rows() {}

    /** The rows of a file beside this class, cut into columns at bars. */
    static List<String[]> of(String resource) {
        return Vectors.rows(Rows.class, resource);
    }

    /** Settings of words: net 10.0.0.0/8 Forwarded; hops 2; all; unix; none. */
    static ClientIpSettings settings(String trust, int ipv6Prefix) {
        String[] words = trust.split(" ", -1);
        String kind = words[0];
        List<IpNetwork> networks = kind.equals("net")
                ? Stream.of(words[1].split(",")).map(IpNetwork::parse).toList()
                : List.of();
        return new ClientIpSettings(
                networks,
                kind.equals("unix"),
                kind.equals("all"),
                kind.equals("hops") ? Integer.parseInt(words[1]) : 0,
                words.length > 2 ? words[2] : kind.equals("none") ? null : ClientIpSettings.X_FORWARDED_FOR,
                ipv6Prefix,
                ClientIpSettings.Source.AUTO);
    }

    static AddressResolver resolver(String trust) {
        return AddressResolver.of(settings(trust, ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS));
    }

    static AddressResolver resolver(Trust trust) {
        String who = trust.everybody()
                ? "all -"
                : trust.hops() > 0
                        ? "hops " + trust.hops()
                        : trust.networks().isEmpty() ? "none" : "net " + String.join(",", trust.networks());
        return AddressResolver.of(settings(trust.header() == null ? who : who + " " + trust.header(), trust.prefix()));
    }

    /** Headers of lines such as {@code Forwarded: for=1.1.1.1}; names have no case. */
    static Function<String, List<String>> headers(String... lines) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line : lines) {
            if (!line.equals("-")) {
                int colon = line.indexOf(':');
                headers.computeIfAbsent(line.substring(0, colon), name -> new ArrayList<>())
                        .add(line.substring(colon + 1));
            }
        }
        return name -> headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }
}
