package io.limiter.http.internal.address;

import io.limiter.TimeSource;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.ClientIpSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Warns of proxies and headers that look wrong. Each warning is logged once, or once a minute: requests cause them, and
 * a client must not be able to fill the log. Thread-safe.
 */
final class ProxyWarnings {
    private static final long MINUTE_MICROS = 60_000_000;
    private static final long SECOND_MICROS = 1_000_000;
    private static final int LONGEST_TEXT = 64;

    /**
     * The first requests show what proxies send. After them, one check in a second: reading three headers of each
     * request has a cost.
     */
    private static final int MANY_LOOKS = 1_000;

    private static final Pattern UNFIT = Pattern.compile("[^ -~]|['\\\\]");

    static final String IGNORED =
            "RL-301 {} came from {}, which is not a trusted proxy, and is ignored. That is right unless this address is a"
                    + " proxy of yours; then add it to limiter.client-ip.trusted-proxies. Logged once";
    private static final String IGNORED_OF_NEIGHBOUR =
            "RL-302 {} came from {}, which looks like a proxy of yours, and is ignored: no proxy is trusted, so all"
                    + " clients behind it share one quota. If it is a proxy, write limiter.client-ip.trusted-proxies ="
                    + " {}. Logged once";
    private static final String OTHER_HEADER =
            "RL-308 the trusted proxy {} sent {} and no {}, so the client is the proxy itself, and all clients"
                    + " behind it share one quota. Set limiter.client-ip.header to what the proxy writes. Logged once";

    static final String NOT_EXEMPT =
            "RL-310 a request from the exempt address {} carries {}, so it came through a proxy, and is counted. If that"
                    + " address is a proxy of yours, add it to limiter.client-ip.trusted-proxies. Logged once";

    static final String REPLACED =
            "RL-331 the container reports {} for a connection from {}: something before this filter replaces the"
                    + " client's address, and exemptions by address do not apply to such requests. Set"
                    + " limiter.client-ip.source to connection, or to container if its address is right. Logged once";
    static final String UNKNOWN_PEER =
            "RL-332 the peer of a connection can't be read from {}, so it may be a proxy, and no address is exempt. If"
                    + " the address that the container reports is right, write limiter.client-ip.source = container. Logged once";
    static final String USED_HEADER =
            "RL-333 limiter.client-ip.source is connection, but the container has changed the headers of a request from"
                    + " {}, so its clients share one quota; switch off its RemoteIpValve. Logged once";

    static final String MALFORMED = "RL-303 {} from {} is malformed at '{}': {}";
    static final String TOO_FEW_HOPS =
            "RL-304 {} from {} has {} hops, and limiter.client-ip.trusted-hops = {}: it bypassed a proxy, or"
                    + " there are fewer proxies";
    static final String NO_ADDRESS =
            "RL-309 the container returns the peer '{}', which is not an address; a component before this"
                    + " filter has set it from a header";

    /** The headers that are reported if they are not read. */
    private static final List<String> KNOWN =
            List.of(ClientIpSettings.X_FORWARDED_FOR, ClientIpSettings.FORWARDED, "X-Real-IP");

    private final Logger log;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    private final Map<String, Repeated> repeated = new ConcurrentHashMap<>();
    private final TimeSource time;

    private final Looks forHeaders;
    /** Whether to compare the peer of a request with that of its connection. */
    final Looks forPeers;

    ProxyWarnings(Logger log, TimeSource time) {
        this.log = log;
        this.time = time;
        this.forHeaders = new Looks(time);
        this.forPeers = new Looks(time);
    }

    /** Which requests are checked. */
    static final class Looks {
        /** How many were checked; approximate, because threads do not synchronize. */
        private int count;

        private final Throttle later;

        Looks(TimeSource time) {
            this.later = new Throttle(time::nowMicros, SECOND_MICROS);
        }

        boolean tryNext() {
            if (count < MANY_LOOKS) {
                count++;
                return true;
            }
            return later.tryPassOften();
        }
    }

    /** How often an event occurred, and when it may be logged again. */
    private record Repeated(AtomicLong count, Throttle throttle) {}

    /** What is known without a request. */
    static List<String> of(ClientIpSettings settings) {
        List<String> all = new ArrayList<>();
        settings.trustedProxies().stream()
                .filter(IpNetwork::hasHostBits)
                .forEach(network ->
                        all.add("RL-305 the trusted network " + network + " has bits behind its prefix, so it is "
                                + network.withoutHostBits() + "; write that, or /"
                                + network.address().bits()
                                + " if one address was meant"));
        if (settings.trustsEveryPeer() && settings.header() != null) {
            all.add("RL-306 every peer is trusted to name the client in " + settings.header()
                    + ": a client that connects without your proxy"
                    + " gets a new quota with every request; write the networks of your proxies instead of all");
        }
        return all;
    }

    /** For an untrusted peer if no proxy is trusted: looks for headers that name a client. */
    void ignored(@Nullable IpAddress peer, Function<String, List<String>> headerLines) {
        String name = sent(headerLines);
        if (name != null) {
            String warning = isNeighbour(peer) ? IGNORED_OF_NEIGHBOUR : IGNORED;
            once(warning, name, peer, peer == null ? "unix" : peer);
        }
    }

    /** For a proxy that did not send the configured header: looks for another one. */
    void other(String read, @Nullable IpAddress peer, Function<String, List<String>> headerLines) {
        String name = sent(headerLines);
        if (name != null) {
            once(OTHER_HEADER, peer, name, read);
        }
    }

    /** One of the known headers of a request; null if it has none, or is not checked because many others were. */
    private @Nullable String sent(Function<String, List<String>> headerLines) {
        boolean isLook = forHeaders.tryNext();
        for (String name : KNOWN) {
            if (isLook && !headerLines.apply(name).isEmpty()) {
                return name;
            }
        }
        return null;
    }

    void replaced(String peer, @Nullable String reported) {
        once(REPLACED, new Shown(reported == null ? "no address" : reported), new Shown(peer));
    }

    /** Logs a warning the first time. A missing address is one without a name. */
    void once(String warning, @Nullable Object... arguments) {
        if (logged.add(warning)) {
            log.warn(warning, named(arguments));
        }
    }

    boolean isLogged(String warning) {
        return logged.contains(warning);
    }

    void onceAMinute(String warning, @Nullable Object... arguments) {
        Repeated one = repeated.computeIfAbsent(
                warning, key -> new Repeated(new AtomicLong(), new Throttle(time::nowMicros, MINUTE_MICROS)));
        long count = one.count.incrementAndGet();
        if (one.throttle.tryPass()) {
            log.warn(
                    warning + ". Such requests share a separate quota; " + count + " until now, logged once a minute",
                    named(arguments));
        }
    }

    private static Object[] named(@Nullable Object[] arguments) {
        return Stream.of(arguments)
                .map(one -> one == null ? "a peer without an address" : one)
                .toArray();
    }

    /** Also a Unix socket, which only software on this machine can connect to. */
    private static boolean isNeighbour(@Nullable IpAddress peer) {
        return peer == null
                || Stream.concat(IpNetwork.PRIVATE.stream(), IpNetwork.LOOPBACK.stream())
                        .anyMatch(network -> network.contains(peer));
    }

    /** Text from the network as one short line of ASCII, so that a client can't forge log lines or control a terminal. */
    record Shown(String text) {
        @Override
        public String toString() {
            String cut = text.substring(0, Math.min(text.length(), LONGEST_TEXT));
            String shown = UNFIT.matcher(cut)
                    .replaceAll(
                            found -> String.format("\\\\u%04x", found.group().codePointAt(0)));
            return text.length() > LONGEST_TEXT ? shown + "..." : shown;
        }
    }
}
