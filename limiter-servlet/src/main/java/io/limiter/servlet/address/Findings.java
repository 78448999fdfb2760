package io.limiter.servlet.address;

import io.limiter.TimeSource;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What an operator should know about how clients are found. Each is told once, or once a minute: everything here is
 * started by requests, and a log must not be filled by whoever sends them. Thread-safe.
 */
final class Findings {
    private static final long EVERY_MICROS = 60_000_000;
    private static final int LONGEST_TEXT = 64;

    /** Where proxies are and clients of the Internet are not (RFC 1918, RFC 6598, RFC 4193, loopback, link-local). */
    private static final List<IpNetwork> PRIVATE = List.of(
            IpNetwork.parse("10.0.0.0/8"),
            IpNetwork.parse("172.16.0.0/12"),
            IpNetwork.parse("192.168.0.0/16"),
            IpNetwork.parse("100.64.0.0/10"),
            IpNetwork.parse("127.0.0.0/8"),
            IpNetwork.parse("169.254.0.0/16"),
            IpNetwork.parse("fc00::/7"),
            IpNetwork.parse("fe80::/10"),
            IpNetwork.parse("::1"));

    private final Logger log;
    private final AtomicBoolean ignoredTold = new AtomicBoolean();
    private final AtomicBoolean privatePeerTold = new AtomicBoolean();
    private final AtomicBoolean untrustedTold = new AtomicBoolean();
    private final AtomicBoolean otherTold = new AtomicBoolean();
    private final Sample malformed;
    private final Sample tooFew;
    private final Sample noAddress;

    Findings(Logger log, TimeSource time) {
        this.log = log;
        this.malformed = new Sample(time);
        this.tooFew = new Sample(time);
        this.noAddress = new Sample(time);
    }

    /** Lets one in a minute pass, and counts all. */
    private static final class Sample {
        private final TimeSource time;
        private final AtomicLong count = new AtomicLong();
        private final AtomicLong nextMicros = new AtomicLong();

        Sample(TimeSource time) {
            this.time = time;
        }

        boolean isDue() {
            count.incrementAndGet();
            long nowMicros = time.nowMicros();
            long dueMicros = nextMicros.get();
            return nowMicros >= dueMicros && nextMicros.compareAndSet(dueMicros, nowMicros + EVERY_MICROS);
        }

        long count() {
            return count.get();
        }
    }

    void networkWithHostBits(IpNetwork network) {
        log.warn(
                "RL-305 the trusted network {} has bits behind its prefix, so it is {}; write that, or /{} if one address"
                        + " was meant",
                network,
                network.withoutHostBits(),
                network.address().bits());
    }

    void everyPeerIsTrusted(String header) {
        log.warn(
                "RL-306 every peer is trusted to say in {} who the client is: whoever can connect here without your proxy"
                        + " gets a new quota with every request; write the networks of your proxies instead of all",
                header);
    }

    /** Whether it is still worth to look for headers that are not read. */
    boolean wantsIgnored(@Nullable IpAddress peer) {
        return isPrivate(peer) ? !privatePeerTold.get() : !ignoredTold.get();
    }

    void ignored(String header, @Nullable IpAddress peer) {
        if (isPrivate(peer)) {
            if (privatePeerTold.compareAndSet(false, true)) {
                log.warn(
                        "RL-302 {} came from {}, which looks like a proxy of yours, and is ignored: no proxy is trusted,"
                                + " so all clients behind it share one quota. If it is a proxy, write"
                                + " limiter.client-ip.trusted-proxies = {}. Logged once",
                        header,
                        shown(peer),
                        peer == null ? "unix" : peer);
            }
        } else if (ignoredTold.compareAndSet(false, true)) {
            log.warn(
                    "RL-301 {} came from {} and is ignored: no proxy is trusted, so the client is who is connected."
                            + " That is right unless this address is a proxy of yours; then add it to"
                            + " limiter.client-ip.trusted-proxies. Logged once",
                    header,
                    shown(peer));
        }
    }

    void untrusted(String header, @Nullable IpAddress peer) {
        if (!untrustedTold.get() && untrustedTold.compareAndSet(false, true)) {
            log.warn(
                    "RL-307 {} came from {}, which is no trusted proxy, and is ignored. That is right unless this"
                            + " address is a proxy of yours; then add it to limiter.client-ip.trusted-proxies."
                            + " Logged once",
                    header,
                    shown(peer));
        }
    }

    /** Whether it is still worth to look for another header than the one that is read. */
    boolean wantsOther() {
        return !otherTold.get();
    }

    void other(String found, String header, @Nullable IpAddress peer) {
        if (otherTold.compareAndSet(false, true)) {
            log.warn(
                    "RL-308 the trusted proxy {} sent {} and no {}, so the client is the proxy itself, and all clients"
                            + " behind it share one quota. Set limiter.client-ip.header to what the proxy writes."
                            + " Logged once",
                    shown(peer),
                    found,
                    header);
        }
    }

    void malformed(String header, @Nullable IpAddress peer, Hops hops) {
        if (malformed.isDue()) {
            log.warn(
                    "RL-303 {} from {} is malformed at '{}': {}. Such requests share a quota of their"
                            + " own; {} until now, logged once a minute",
                    header,
                    shown(peer),
                    shown(hops.text()),
                    hops.wrong(),
                    malformed.count());
        }
    }

    void tooManyHops(String header, @Nullable IpAddress peer, int most) {
        if (malformed.isDue()) {
            log.warn(
                    "RL-303 {} from {} is malformed: more than {} hops, all of them trusted. Such"
                            + " requests share a quota of their own; {} until now, logged once a minute",
                    header,
                    shown(peer),
                    most,
                    malformed.count());
        }
    }

    void tooFewHops(String header, @Nullable IpAddress peer, int found, int wanted) {
        if (tooFew.isDue()) {
            log.warn(
                    "RL-304 {} from {} has {} hops, and limiter.client-ip.trusted-hops = {}: it came around a proxy, or"
                            + " there are fewer of them. Such requests share a quota of their own; {} until now,"
                            + " logged once a minute",
                    header,
                    shown(peer),
                    found,
                    wanted,
                    tooFew.count());
        }
    }

    void noAddress(String peer) {
        if (noAddress.isDue()) {
            log.warn(
                    "RL-309 the container says that the peer is '{}', which is no address; something before this filter"
                            + " has set it from a header. Such requests share one quota; {} until now, logged once a"
                            + " minute",
                    shown(peer),
                    noAddress.count());
        }
    }

    private static boolean isPrivate(@Nullable IpAddress peer) {
        if (peer == null) {
            return true; // a Unix socket: only what runs on this machine
        }
        for (IpNetwork network : PRIVATE) {
            if (network.contains(peer)) {
                return true;
            }
        }
        return false;
    }

    private static String shown(@Nullable IpAddress peer) {
        return peer == null ? "a peer without an address" : peer.toString();
    }

    /** Text of the network as one short line of ASCII: no line of the log, and no terminal, is written by a client. */
    static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < text.length() && i < LONGEST_TEXT; i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~' || c == '\'' || c == '\\') {
                shown.append(String.format("\\u%04x", (int) c));
            } else {
                shown.append(c);
            }
        }
        return text.length() > LONGEST_TEXT ? shown + "..." : shown.toString();
    }
}
