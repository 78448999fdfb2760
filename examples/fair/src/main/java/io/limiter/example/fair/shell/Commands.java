package io.limiter.example.fair.shell;

import io.limiter.example.fair.RedisAddress;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * The last commands on the keys of each system, by MONITOR. It makes Redis write down every command, so it runs only while somebody looks.
 * Thread-safe.
 */
@Component
final class Commands implements DisposableBean {
    private static final Logger LOG = LoggerFactory.getLogger(Commands.class);
    private static final int KEPT = 20;
    private static final int LONGEST = 160;
    private static final int SCRIPT = 8;
    private static final long UNWATCHED_NANOS = 10_000_000_000L;
    private static final long LONGEST_WAIT_NANOS = 500_000_000L;
    /** Of other looks at the same time, from any instance. Few, because a port is used again some day. */
    private static final int MOST_PICTURES = 50;

    /** {@code 1700000000.123456 [0 127.0.0.1:4711] "get" "fair:sale:x"}, or {@code [0 lua]}. */
    private static final Pattern LINE = Pattern.compile("[\\d.]+ \\[\\d+ (?<who>[^]]+)] (?<command>.*)");

    private static final Pattern PICTURE = Pattern.compile("\"ECHO\" \"(?<opening>" + RedisWire.OPENING + "[^\"]*)\"");

    /** The page looks again and again; seen twice, a look would push what a button has sent out of the list. */
    private static final Pattern READ = Pattern.compile(
            "^(lua: )?(GET|HGET|HMGET|HVALS|HLEN|HEXISTS|HSCAN|LRANGE|LLEN|SCARD|SMEMBERS"
                    + "|SISMEMBER|ZRANGE|ZRANGEBYSCORE|ZCARD|ZRANK|ZSCORE|ZCOUNT|XLEN|XPENDING|PTTL|TTL|EXISTS|PFCOUNT|STRLEN|TIME|MEMORY|EVAL)");

    private static final Pattern SYSTEM = Pattern.compile("\"fair:\\{?(?<system>[a-z]+)[:}-]");

    /** {@code "get"}; quotes inside are escaped. */
    private static final Pattern PART = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final String address;
    private final Map<String, Deque<String>> last = new HashMap<>();
    /** Openings of the last pictures. */
    private final Deque<String> seen = new ArrayDeque<>();

    private long lookedAtNanos;
    private @Nullable RedisWire wire;

    Commands(RedisAddress redis) {
        this.address = redis.address();
    }

    /** Begins to listen, if nobody has looked for a while. */
    synchronized void watch() throws IOException {
        lookedAtNanos = System.nanoTime();
        if (wire == null) {
            RedisWire opened = new RedisWire(address);
            opened.ask("MONITOR");
            opened.patient();
            wire = opened;
            Thread thread = new Thread(() -> listen(opened), "redis-monitor");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** The last commands of the system, the newest first, up to the opening of a picture: MONITOR has shown what was sent before it. */
    synchronized List<String> of(String system, String opening) {
        long end = System.nanoTime() + LONGEST_WAIT_NANOS;
        try {
            for (long left = LONGEST_WAIT_NANOS; !seen.contains(opening) && left > 0; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        return List.copyOf(last.getOrDefault(system, new ArrayDeque<>()));
    }

    private void listen(RedisWire opened) {
        Deque<String> pictures = new ArrayDeque<>();
        try (opened) {
            while (isWatched()) {
                Matcher line = LINE.matcher(String.valueOf(opened.reply()));
                if (!line.matches()) {
                    continue;
                }
                Matcher opening = PICTURE.matcher(line.group("command"));
                if (opening.matches()) {
                    pictures.addLast(line.group("who"));
                    if (pictures.size() > MOST_PICTURES) {
                        pictures.removeFirst();
                    }
                    see(opening.group("opening"));
                } else if (!pictures.contains(line.group("who"))) {
                    note(line.group("who").equals("lua"), line.group("command"));
                }
            }
        } catch (IOException ended) {
            LOG.debug("the commands of Redis are no longer shown", ended);
        } finally {
            forget(opened);
        }
    }

    private synchronized void see(String opening) {
        seen.addLast(opening);
        if (seen.size() > MOST_PICTURES) {
            seen.removeFirst();
        }
        notifyAll();
    }

    private synchronized boolean isWatched() {
        return System.nanoTime() - lookedAtNanos < UNWATCHED_NANOS;
    }

    private synchronized void forget(RedisWire ended) {
        if (wire == ended) {
            wire = null;
        }
    }

    private synchronized void note(boolean lua, String command) {
        Matcher key = SYSTEM.matcher(command);
        if (key.find()) {
            String text = (lua ? "lua: " : "") + shown(command);
            Deque<String> commands = last.computeIfAbsent(key.group("system"), any -> new ArrayDeque<>());
            if (READ.matcher(text).find() && commands.contains(text)) {
                return;
            }
            commands.addFirst(text);
            if (commands.size() > KEPT) {
                commands.removeLast();
            }
        }
    }

    /** As one would type it: the name in capitals, no quotes, the beginning of a script or of its hash. */
    private static String shown(String command) {
        List<String> parts = new ArrayList<>();
        Matcher part = PART.matcher(command);
        while (part.find()) {
            parts.add(part.group(1));
        }
        parts.set(0, parts.get(0).toUpperCase(Locale.ROOT));
        if (parts.get(0).startsWith("EVAL") && parts.size() > 1) {
            parts.set(1, parts.get(1).substring(0, Math.min(SCRIPT, parts.get(1).length())) + "…");
        }
        String typed = String.join(" ", parts);
        return typed.length() <= LONGEST ? typed : typed.substring(0, LONGEST) + " …";
    }

    @Override
    public synchronized void destroy() throws IOException {
        if (wire != null) {
            wire.close();
        }
    }
}
