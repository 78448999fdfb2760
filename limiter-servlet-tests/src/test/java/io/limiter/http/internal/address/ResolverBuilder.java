package io.limiter.http.internal.address;

import io.limiter.address.IpNetwork;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.kit.door.Chains.Trust;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A resolver in few words, for tests. */
public final class ResolverBuilder {
    private final List<IpNetwork> proxies = new ArrayList<>();
    private boolean unixSocket;
    private boolean everyPeer;
    private int hops;
    private @Nullable String header;
    private int ipv6PrefixBits = ClientIpSettings.DEFAULT_IPV6_PREFIX_BITS;

    private ResolverBuilder() {}

    public static ResolverBuilder builder() {
        return new ResolverBuilder();
    }

    /** A resolver that trusts like that. */
    static AddressResolver of(Trust trust) {
        ResolverBuilder builder = builder()
                .trustedProxies(trust.networks().toArray(new String[0]))
                .ipv6Prefix(trust.prefix());
        if (trust.everybody()) {
            builder.trustedEveryPeer();
        }
        if (trust.hops() > 0) {
            builder.trustedHops(trust.hops());
        }
        if (trust.header() != null) {
            builder.header(trust.header());
        }
        return builder.build();
    }

    /**
     * Trusts proxies in these networks.
     *
     * @param networks in CIDR notation ({@code 10.0.0.0/8}), or single addresses
     * @throws IllegalArgumentException if one is not a network, or one of 0 bits; the message names it and what to write
     */
    public ResolverBuilder trustedProxies(String... networks) {
        for (String network : networks) {
            proxies.add(IpNetwork.parse(network));
        }
        return this;
    }

    /** Trusts what is connected without an address, over a Unix socket. */
    public ResolverBuilder trustedUnixSocket() {
        this.unixSocket = true;
        return this;
    }

    /** Trusts everybody. Right only where nobody but the proxy can connect. */
    public ResolverBuilder trustedEveryPeer() {
        this.everyPeer = true;
        return this;
    }

    /**
     * Trusts this number of proxies, of any address. Correct only if each request passes through all of them.
     *
     * @param hops 1 to {@value ClientIpSettings#MAX_HOPS}
     */
    public ResolverBuilder trustedHops(int hops) {
        this.hops = hops;
        return this;
    }

    /**
     * Reads this header; {@code X-Forwarded-For} unless set. {@code Forwarded} is read as RFC 7239 defines it, every
     * other one
     * as the client's address alone.
     */
    public ResolverBuilder header(String name) {
        this.header = name;
        return this;
    }

    /**
     * How many bits of an IPv6 address identify a client; 64 unless set.
     *
     * @param bits 32 to 128
     */
    public ResolverBuilder ipv6Prefix(int bits) {
        this.ipv6PrefixBits = bits;
        return this;
    }

    /**
     * The resolver.
     *
     * @throws IllegalArgumentException if what was set does not fit together; the message explains what
     */
    public AddressResolver build() {
        boolean trusting = !proxies.isEmpty() || unixSocket || everyPeer || hops != 0;
        String read = header == null && trusting ? ClientIpSettings.X_FORWARDED_FOR : header;
        return AddressResolver.of(new ClientIpSettings(
                proxies, unixSocket, everyPeer, hops, read, ipv6PrefixBits, ClientIpSettings.Source.AUTO));
    }
}
