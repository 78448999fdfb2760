package io.limiter.kit.door;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Makes requests as honest proxies, careless ones and attackers send them. Seeded. */
public final class Chains {
    private static final String[] HEADERS = {"X-Forwarded-For", "Forwarded", "X-Real-IP"};
    private static final String[] NETWORKS = {
        "10.0.0.0/8",
        "192.168.0.0/16",
        "127.0.0.1",
        "2001:db8:ff::/48",
        "fd00::/8",
        "64:ff9b::/96",
        "10.1.2.3/32",
        "8.0.0.0/7"
    };
    private static final String ODD =
            "\u0000\r\n\t ,;=\"'\\:.%[]{}_/*!~@#\u007f\u00e9\u0130\ud83d\ude00\ud800\udc00\uffffx0f1";

    private final Random random;

    public Chains(long seed) {
        this.random = new Random(seed);
    }

    /** Whom to trust. */
    public record Trust(
            List<String> networks,
            boolean everybody,
            int hops,
            @Nullable String header,
            int prefix) {
        /** As properties. */
        String text() {
            String trusted = everybody ? "all" : String.join(", ", networks);
            return "limiter.client-ip.ipv6-prefix = " + prefix + "\n"
                    + (trusted.isEmpty() ? "" : "limiter.client-ip.trusted-proxies = " + trusted + "\n")
                    + (hops == 0 ? "" : "limiter.client-ip.trusted-hops = " + hops + "\n")
                    + (header == null ? "" : "limiter.client-ip.header = " + header + "\n");
        }

        public NaiveWalk naive() {
            return new NaiveWalk(networks, everybody, hops, header, prefix);
        }
    }

    public String header() {
        return HEADERS[random.nextInt(3)];
    }

    public Trust trust() {
        String header = header();
        int prefix = new int[] {32, 48, 56, 64, 127, 128}[random.nextInt(6)];
        boolean single = header.equals("X-Real-IP");
        return switch (random.nextInt(8)) {
            case 0 -> new Trust(List.of(), false, 0, null, prefix);
            case 1 -> new Trust(List.of(), true, 0, header, prefix);
            case 2 ->
                new Trust(List.of(), false, single ? 1 : 1 + random.nextInt(4), single ? HEADERS[0] : header, prefix);
            default -> {
                List<String> networks = new ArrayList<>();
                for (String network : NETWORKS) {
                    if (random.nextInt(3) > 0) {
                        networks.add(network);
                    }
                }
                networks.add("192.0.2.1");
                yield new Trust(networks, false, 0, header, prefix);
            }
        };
    }

    public String peer() {
        return random.nextInt(8) == 0
                ? node(false)
                : random.nextInt(3) == 0 ? address() : "10.0.0." + (1 + random.nextInt(9));
    }

    /** Lines of a header, with hops as this header writes them. */
    public List<String> lines(@Nullable String header) {
        List<String> lines = new ArrayList<>();
        boolean forwarded = "Forwarded".equals(header);
        boolean single = "X-Real-IP".equals(header);
        int count = single && random.nextInt(10) > 0 ? 1 : random.nextInt(4);
        for (int i = 0; i < count; i++) {
            StringBuilder line = new StringBuilder();
            int hops = single && random.nextInt(10) > 0
                    ? 1
                    : random.nextInt(20) == 0 ? random.nextInt(40) : random.nextInt(5);
            for (int j = 0; j < hops; j++) {
                line.append(j == 0 ? "" : space() + "," + space()).append(forwarded ? element() : node(true));
            }
            if (random.nextInt(8) == 0 && !single) {
                String empty = (space() + "," + space()).repeat(random.nextInt(6) == 0 ? 18 : 1 + random.nextInt(3));
                line.insert(random.nextBoolean() ? 0 : line.length(), empty);
            }
            if (random.nextInt(15) == 0 && !line.isEmpty()) {
                int at = random.nextInt(line.length());
                line.insert(at, ODD.charAt(random.nextInt(ODD.length())));
            }
            lines.add(line.toString());
        }
        return lines;
    }

    private String space() {
        return new String[] {"", " ", "", " ", "\t", "  "}[random.nextInt(6)];
    }

    private String element() {
        List<String> pairs = new ArrayList<>();
        if (random.nextInt(30) > 0) {
            pairs.add(new String[] {"for", "For", "FOR"}[random.nextInt(3)] + "=" + quoted(node(false)));
        }
        if (random.nextInt(3) == 0) {
            pairs.add(random.nextInt(pairs.size() + 1), "proto=" + (random.nextBoolean() ? "https" : "\"http\""));
        }
        if (random.nextInt(5) == 0) {
            pairs.add("host=\"a.example, \\\"b\\\";for=6.6.6.6\"");
        }
        if (random.nextInt(20) == 0) {
            pairs.add("by=" + quoted(node(false)));
        }
        if (random.nextInt(40) == 0) {
            pairs.add("for=6.6.6.6");
        }
        if (random.nextInt(40) == 0) {
            pairs.add("");
        }
        return String.join(random.nextInt(10) == 0 ? " ; " : ";", pairs);
    }

    private String quoted(String node) {
        boolean token = node.matches("[A-Za-z0-9._-]+");
        if (token ? random.nextInt(3) > 0 : random.nextInt(20) == 0) {
            return node;
        }
        String inside = node.replace("\\", "\\\\").replace("\"", "\\\"");
        if (!inside.isEmpty() && random.nextInt(10) == 0 && Character.isLetterOrDigit(inside.charAt(0))) {
            inside = "\\" + inside;
        }
        return random.nextInt(60) == 0 ? "\"" + inside : "\"" + inside + "\"";
    }

    /** A hop: mostly an address, with a port or without. */
    public String node(boolean bare) {
        if (random.nextInt(12) == 0) {
            return new String[] {
                        "unknown",
                        "_hidden",
                        "",
                        "localhost",
                        "010.0.0.1",
                        "1",
                        "0.0.0.0",
                        "::",
                        "2001:db8::1",
                        "[1.1.1.1]",
                        "1.1.1.1:99999",
                        "1.1.1.1:",
                        "[::1",
                        "::ffff:0.0.0.0",
                        "64:ff9b::",
                        "10.0.0.1 1.1.1.1",
                        "\u0661.1.1.1"
                    }
                    [random.nextInt(17)];
        }
        String address = address();
        boolean ipv6 = address.contains(":");
        String zoned = ipv6 && random.nextInt(8) == 0 ? address + "%eth0" : address;
        String bracketed = ipv6 && (!bare || random.nextBoolean()) ? "[" + zoned + "]" : zoned;
        boolean port = random.nextInt(4) == 0 && (!ipv6 || bracketed.startsWith("["));
        return bracketed + (port ? random.nextBoolean() ? ":" + random.nextInt(65_536) : ":_p" : "");
    }

    private String address() {
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> "10." + random.nextInt(3) + ".2." + random.nextInt(9);
            case 4 -> "192.168.1." + random.nextInt(256);
            case 5 -> random.nextInt(256) + "." + random.nextInt(256) + "." + random.nextInt(256) + ".7";
            case 6 ->
                (random.nextBoolean() ? "::ffff:" : "::FFFF:0:0".substring(0, 7)) + "10.0.0." + random.nextInt(256);
            case 7 ->
                "2001:db8:" + (random.nextBoolean() ? "ff" : "1") + ":" + random.nextInt(3) + "::" + random.nextInt(99);
            case 8 -> "64:ff9b::" + random.nextInt(12) + ".0.0.1";
            default -> "fd00:0:0:" + Integer.toHexString(random.nextInt(65_536)) + ":0:0:0:" + random.nextInt(9);
        };
    }

    /** Text that no proxy sends, up to 70 kB of it. */
    public String odd() {
        int length = random.nextInt(2_000) == 0 ? 70_000 : random.nextInt(random.nextInt(10) == 0 ? 400 : 40);
        StringBuilder text = new StringBuilder(length);
        while (text.length() < length) {
            if (random.nextInt(4) == 0) {
                text.append(random.nextBoolean() ? element() : node(true));
            } else {
                text.append(ODD.charAt(random.nextInt(ODD.length())));
            }
        }
        return text.toString();
    }

    public Random random() {
        return random;
    }
}
