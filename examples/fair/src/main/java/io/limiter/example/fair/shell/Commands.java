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
    /** Of other looks at the same time, from any instance. Few, because a port is used again some day. */
    private static final int MOST_PICTURES = 50;

    /** {@code 1700000000.123456 [0 127.0.0.1:4711] "get" "fair:sale:x"}, or {@code [0 lua]}. */
    private static final Pattern LINE = Pattern.compile("[\\d.]+ \\[\\d+ (?<who>[^]]+)] (?<command>.*)");

    private static final Pattern SYSTEM = Pattern.compile("\"fair:\\{?(?<system>[a-z]+)[:}-]");

    /** {@code "get"}; quotes inside are escaped. */
    private static final Pattern PART = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final String address;
    private final Map<String, Deque<String>> last = new HashMap<>();
    private long lookedAtNanos;
    private @Nullable RedisWire wire;

    Commands(RedisAddress redis) {
        this.address = redis.address();
    }

    /** The last commands of the system, the newest first. */
    synchronized List<String> of(String system) throws IOException {
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
                if (line.group("command").equals("\"ECHO\" \"" + RedisWire.OPENING + "\"")) {
                    pictures.addLast(line.group("who"));
                    if (pictures.size() > MOST_PICTURES) {
                        pictures.removeFirst();
                    }
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
