package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Asks whether somebody answers at an address. Each client of Redisson makes threads anew and writes a line to the log, so
 * one is made only for somebody who answers. Used by one thread.
 */
final class Knock {
    private static final Pattern ADDRESS = Pattern.compile(
            "redis(?<tls>s?)://(?:.*@)?(?:\\[(?<ipv6>[^]]+)]|(?<host>[^:/\\[\\]]+)):(?<port>\\d{1,5})(?:/\\d*)?");

    private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int HIGHEST_PORT = 65_535;
    private static final int CONNECT_MILLIS = 500;
    private static final int REPLY_MILLIS = 500;
    /** Redisson tries itself after this long: it looks names up in another way, and may get through where this does not. */
    private static final long LONGEST_TRUST_MICROS = 30_000_000;

    private final List<String> addresses;
    private final TimeSource time;
    private long lastLetInMicros;

    /** @param addresses none where they are not known, and everybody is let in then */
    Knock(List<String> addresses, TimeSource time) {
        this.addresses = List.copyOf(addresses);
        this.time = time;
        this.lastLetInMicros = time.nowMicros();
    }

    /**
     * Returns when somebody answers at one of the addresses, or that can't be known.
     *
     * @throws BackendException if nobody does
     */
    void orThrow() throws InterruptedException {
        String refusal = "";
        for (String address : addresses) {
            Matcher parts = ADDRESS.matcher(address);
            if (!parts.matches() || Integer.parseInt(parts.group("port")) > HIGHEST_PORT) {
                // Redisson knows more kinds of addresses, and what to say of a wrong one.
                refusal = "";
                break;
            }
            refusal = refusal(parts);
            if (refusal.isEmpty()) {
                break;
            }
        }
        long now = time.nowMicros();
        if (!refusal.isEmpty() && now - lastLetInMicros < LONGEST_TRUST_MICROS) {
            throw new BackendException("RL-201 " + refusal);
        }
        lastLetInMicros = now;
    }

    /** Why nobody answers; empty when somebody does. */
    private static String refusal(Matcher parts) throws InterruptedException {
        String host = parts.group("ipv6") == null ? parts.group("host") : parts.group("ipv6");
        int port = Integer.parseInt(parts.group("port"));
        String refusal = "";
        try {
            for (InetAddress each : InetAddress.getAllByName(host)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("closed while knocking");
                }
                refusal = refusal(
                        new InetSocketAddress(each, port), !parts.group("tls").isEmpty());
                if (refusal.isEmpty()) {
                    return "";
                }
            }
        } catch (IOException unknown) {
            refusal = RedisFailure.of(unknown);
        }
        return refusal + " (" + host + ":" + port + ")";
    }

    private static String refusal(InetSocketAddress address, boolean tls) {
        // Redisson does not go through the proxy of the JVM's system properties either.
        try (Socket socket = new Socket(Proxy.NO_PROXY)) {
            socket.connect(address, CONNECT_MILLIS);
            if (!tls) {
                // Whoever forwards a port, a container's host say, takes connections also when nobody is behind it.
                socket.setSoTimeout(REPLY_MILLIS);
                socket.getOutputStream().write(PING);
                if (socket.getInputStream().read() < 0) {
                    throw new EOFException("the connection was closed");
                }
            }
            return "";
        } catch (IOException nobody) {
            return RedisFailure.of(nobody);
        }
    }
}
