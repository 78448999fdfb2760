package io.limiter.http.internal;

import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.http.ClientAddress;
import io.limiter.http.internal.address.AddressResolver;
import io.limiter.http.internal.match.MatchableRequest;
import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One dispatch of a request as rules read it: what they match, and whose it is. Used by the one thread that has the request. */
final class RuleRequest extends MatchableRequest {
    private static final int SUBSCRIBER_BITS = 64;

    private final Reader reader;
    private @Nullable Boolean isSure;
    private @Nullable ClientAddress client;

    /**
     * How requests are read under one configuration.
     *
     * @param override which claims of another method count
     * @param exempt callers that no rule counts; null for none
     */
    record Reader(
            AddressResolver addresses,
            MethodOverride override,
            @Nullable CallerMatcher exempt) {}

    /** A dispatch. */
    RuleRequest(Request request, Reader reader) {
        super(request, reader.override);
        this.reader = reader;
    }

    /** CallerMatcher; null for none, which is what nearly all rules have. */
    static @Nullable CallerMatcher orNull(CallerMatcher callers) {
        return callers.addresses().isEmpty() && !callers.needUser() ? null : callers;
    }

    /** Whether no client has sent it, so that nothing is logged about it. */
    boolean isSample() {
        return request instanceof SampleRequest;
    }

    /** The address of the client; found once. */
    public ClientAddress client() {
        if (client == null) {
            client = reader.addresses.resolve(request);
        }
        return client;
    }

    /** The client, for its share of what clients compete for: an IPv6 subscriber has the whole network. */
    public String network() {
        return client().text(Math.min(SUBSCRIBER_BITS, client().ipv6PrefixBits()));
    }

    /** Whether no rule counts the caller. */
    boolean isExempt() {
        return reader.exempt != null && isFrom(reader.exempt);
    }

    /** Whether it certainly comes from one of these callers. */
    boolean isFrom(CallerMatcher callers) {
        return (isIn(callers.addresses()) && isSure()) || isByUserOf(callers);
    }

    /** Checks the headers once, however many rules have exemptions. */
    private boolean isSure() {
        if (isSure == null) {
            isSure = reader.addresses.isSure(client(), request);
        }
        return isSure;
    }

    private boolean isByUserOf(CallerMatcher callers) {
        Principal user = callers.needUser() ? request.user() : null;
        return user != null
                && ((user.getName() != null && callers.users().contains(user.getName()))
                        || callers.roles().stream().anyMatch(request::isUserInRole));
    }

    /** Whether it comes from one of these networks, whatever address a component before the limiter has read for it. */
    boolean isDeniedBy(List<IpNetwork> networks) {
        return isIn(networks) || isIn(networks, reader.addresses.hiddenPeer(request));
    }

    /** Whether the client's address is in one of these networks: the address itself, and not the network that its key has. */
    private boolean isIn(List<IpNetwork> networks) {
        return !networks.isEmpty() && isIn(networks, client().address().orElse(null));
    }

    private static boolean isIn(List<IpNetwork> networks, @Nullable IpAddress address) {
        // Called for each rule that exempts networks, so without a stream.
        for (IpNetwork network : networks) {
            if (address != null && network.contains(address)) {
                return true;
            }
        }
        return false;
    }
}
