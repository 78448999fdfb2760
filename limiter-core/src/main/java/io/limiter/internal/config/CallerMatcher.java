package io.limiter.internal.config;

import io.limiter.address.IpNetwork;
import java.util.List;
import java.util.Set;

/**
 * Callers by their address, their user name or a role. Immutable.
 *
 * @param addresses the networks that their addresses are in, each without bits behind its prefix
 * @param users the names of authenticated users, compared with case
 * @param roles the roles that the container knows, compared with case
 */
public record CallerMatcher(List<IpNetwork> addresses, Set<String> users, Set<String> roles) {
    /** The callers of the properties below a key. */
    static CallerMatcher read(PropertyReader reader, String here) {
        return new CallerMatcher(
                networks(reader, here + "addresses"),
                Set.copyOf(reader.each(here + "users", CallerMatcher::checkedName)),
                Set.copyOf(reader.each(here + "roles", CallerMatcher::checkedName)));
    }

    /** The networks of a property, each without bits behind its prefix. */
    static List<IpNetwork> networks(PropertyReader reader, String key) {
        return reader.each(key, CallerMatcher::checkedNetworks).stream()
                .flatMap(List::stream)
                .toList();
    }

    private static List<IpNetwork> checkedNetworks(String text) {
        List<IpNetwork> networks = IpNetwork.named(text);
        for (IpNetwork network : networks) {
            checkHost(network);
            // A mistake such as 10.0.0.1/8 for /32 would match far more callers than intended.
            Problems.refuseIf(
                    network.hasHostBits(),
                    "'" + network + "' has bits behind its prefix; write " + network.withoutHostBits() + ", or "
                            + network.address() + " for that one address");
        }
        return networks;
    }

    /** Whether it contains no callers. */
    public boolean isEmpty() {
        return addresses.isEmpty() && !needUser();
    }

    /** Whether it contains users or roles, so that a caller must be authenticated first. */
    public boolean needUser() {
        return !users.isEmpty() || !roles.isEmpty();
    }

    /** 0.0.0.0 would match no caller. */
    static void checkHost(IpNetwork network) {
        Problems.refuseIf(
                network.address().isUnspecified()
                        && network.prefixBits() == network.address().bits(),
                "'" + network.address()
                        + "' is not the address of a host; write that of one, or a network such as 10.0.0.0/8");
    }

    private static String checkedName(String name) {
        Problems.refuseIf(
                name.isBlank() || name.contains("*"),
                "'" + name + "' matches no name; write whole names, separated by one comma");
        return name;
    }
}
