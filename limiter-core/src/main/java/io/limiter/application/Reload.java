package io.limiter.application;

import io.limiter.config.LimiterConfig;
import io.limiter.internal.Watch;
import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.ReloadSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the configuration of a limiter again, on request or when a file has changed, and puts it into force if it is
 * valid. Thread-safe.
 *
 * <p>The version of a file is its bytes, not its time, so that it may be written in steps, renamed or replaced
 * through a symbolic link. The configuration is used only if the bytes were the same a moment before and after reading.
 */
final class Reload implements Watch.Source<List<Object>>, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Reload.class);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration PAUSE_WHEN_ASKED = Duration.ofMillis(50);
    private static final int MOST_READS = 20;
    private static final int DEEPEST = 100;

    /** How time passes. */
    @FunctionalInterface
    interface Pause {
        /** Waits that long; returns true, at once, when this is closed. */
        boolean isClosedAfter(Duration time) throws InterruptedException;
    }

    private final Limiter limiter;
    private final LimiterConfig origin;
    private final ReloadSettings settings;
    private final Watch<List<Object>> watch = new Watch<>(this);
    private final Pause pause;
    private final Duration settling;
    /** The texts that had rules or policies when they last took effect. Guarded by the watch. */
    private Set<String> limitsIn;

    /** With the pause of a test; null for those of a clock. */
    Reload(Limiter limiter, LimiterConfig origin, @Nullable Pause pause, @Nullable Duration settling) {
        this.limiter = limiter;
        this.origin = origin;
        this.settings = origin.settings().reload();
        this.limitsIn = settings.limitsIn();
        this.pause = pause != null ? pause : watch::isClosedAfter;
        Duration interval = settings.interval();
        Duration fifth = interval == null ? LONGEST_PAUSE : interval.dividedBy(5);
        this.settling = settling != null ? settling : fifth.compareTo(LONGEST_PAUSE) < 0 ? fifth : LONGEST_PAUSE;
    }

    /** Watches the files from now on until it is closed, if that is configured. */
    void watch() {
        Duration interval = settings.interval();
        if (interval != null) {
            LOG.info("configuration files {} are checked every {}", settings.files(), interval);
            watch.start("limiter-reload", () -> {
                // Together one interval, within which a change takes effect.
                while (!pause.isClosedAfter(interval.minus(settling))) {
                    watch.look();
                }
            });
        }
    }

    /** Looks whether a file has changed. */
    void look() throws InterruptedException {
        watch.look();
    }

    @Override
    public void take(List<Object> changed) throws InterruptedException {
        try {
            apply(settling);
        } catch (IllegalStateException refused) {
            // Already logged; read again when the file changes.
        }
    }

    /** Reads the configuration, and returns what differs. */
    List<String> now() {
        synchronized (watch) {
            try {
                return apply(PAUSE_WHEN_ASKED);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while the configuration was read", interrupted);
            }
        }
    }

    private List<String> apply(Duration settling) throws InterruptedException {
        settings.readable();
        try {
            LimiterConfig now = limiter.ownConfig();
            LimiterConfig next = settled(settling);
            if (next == null || next.equals(now)) {
                LOG.info("the configuration was read again: nothing differs");
                return List.of();
            }
            limiter.replace(next);
            limitsIn = next.settings().reload().limitsIn();
            return now.settings().reload().changesTo(next.settings().reload());
        } catch (InterruptedException interrupted) {
            throw interrupted;
        } catch (Throwable wrong) {
            // Also an Error, for example of a class that the configuration names: the watch must go on.
            String message = "RL-159 the new configuration is refused; the previous one stays in force: "
                    + (wrong instanceof Error || wrong.getMessage() == null ? wrong : wrong.getMessage());
            LOG.error(message);
            throw new IllegalStateException(message, wrong);
        }
    }

    /** The configuration of files that were the same before and after; null when this is closed. */
    private @Nullable LimiterConfig settled(Duration settling) throws Throwable {
        for (int i = 0; i < MOST_READS; i++) {
            List<Object> before = version();
            if (pause.isClosedAfter(settling)) {
                return null;
            }
            try {
                LimiterConfig next = read(before);
                if (version().equals(before)) {
                    return next;
                }
            } catch (Throwable wrong) {
                if (version().equals(before)) {
                    throw wrong;
                }
            }
        }
        throw new IOException("RL-160 the files " + settings.files() + " change all the time; write them once");
    }

    private LimiterConfig read(List<Object> contents) throws Exception {
        for (Object content : contents) {
            if (content instanceof String unreadable) {
                throw new IOException("RL-160 a file can't be read (" + unreadable + "); put it back");
            }
        }
        LimiterConfig next = origin.readAgain();
        Set<String> empty = new TreeSet<>(limitsIn);
        empty.removeAll(next.settings().reload().limitsIn());
        if (!empty.isEmpty()) {
            throw new IOException("RL-160 no rule or policy is left in " + String.join(", ", empty)
                    + "; put one back, or restart without limits");
        }
        return next;
    }

    @Override
    public List<Object> version() {
        return settings.readable().stream().map(Reload::content).toList();
    }

    private static Object content(Path file) {
        try {
            return Files.isDirectory(file) ? tree(file) : ByteBuffer.wrap(ConfigText.content(file));
        } catch (Throwable unreadable) {
            // An OutOfMemoryError too.
            return unreadable.toString();
        }
    }

    /** All files below. Kubernetes keeps its versions of them beside, in folders that begin with two dots. */
    private static Object tree(Path folder) throws IOException {
        try (Stream<Path> below =
                Files.find(folder, DEEPEST, (path, is) -> is.isRegularFile(), FileVisitOption.FOLLOW_LINKS)) {
            Map<Path, Object> contents = new HashMap<>();
            below.filter(file -> !folder.relativize(file).toString().startsWith(".."))
                    .forEach(file -> contents.put(file, content(file)));
            return contents;
        }
    }

    @Override
    public void close() {
        watch.close();
    }
}
