package io.limiter;

import io.limiter.config.LimiterConfig;
import io.limiter.config.ReloadSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Reads the configuration of a limiter again, when it is asked or when a file has changed, and puts it in force if nothing is
 * wrong with it. Thread-safe.
 *
 * <p>The bytes of the files are compared, not their times, so that a file may be written in steps, renamed or be reached by a link
 * that is switched. What is read counts only if the bytes were the same a moment before and after.
 */
final class Reload implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Reload.class);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration PAUSE_WHEN_ASKED = Duration.ofMillis(50);
    private static final int MOST_READS = 20;
    private static final long LONGEST_END_MILLIS = 1_000;

    /** How time passes. */
    @FunctionalInterface
    interface Pause {
        /** Waits so long; returns at once, and true, when this is closed. */
        boolean isClosedAfter(Duration time) throws InterruptedException;
    }

    private final Limiter limiter;
    private final ReloadSettings settings;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Pause pause;
    private volatile @Nullable Thread thread;

    /** The last that was read, also if it was refused: bytes, or why a file can't be read. Guarded by this. */
    private List<Object> seen = List.of();
    /** The texts that had rules or policies when they were last in force. Guarded by this. */
    private Set<String> limitsIn;

    Reload(Limiter limiter, ReloadSettings settings) {
        this(limiter, settings, null);
    }

    /** With a pause of a test. */
    Reload(Limiter limiter, ReloadSettings settings, @Nullable Pause pause) {
        this.limiter = limiter;
        this.settings = settings;
        this.limitsIn = settings.limitsIn();
        this.pause = pause != null ? pause : time -> closed.await(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Looks at the files from now on, until it is closed, if the configuration says so. */
    void watch() {
        Duration interval = settings.interval();
        if (interval != null) {
            Thread watching = new Thread(() -> watch(interval), "limiter-reload");
            watching.setDaemon(true);
            thread = watching;
            LOG.info("configuration files {} are looked at every {}", settings.files(), interval);
            watching.start();
        }
    }

    private void watch(Duration interval) {
        Duration fifth = interval.dividedBy(5);
        Duration settling = fifth.compareTo(LONGEST_PAUSE) < 0 ? fifth : LONGEST_PAUSE;
        try {
            // Together one interval: a change is in force within it.
            while (!pause.isClosedAfter(interval.minus(settling))) {
                look(settling);
            }
        } catch (InterruptedException ended) {
            // By a container that stops the threads of an application.
        }
    }

    /** Reads the configuration if a file is not as it was. What is refused is logged. */
    synchronized void look(Duration settling) throws InterruptedException {
        if (!contents().equals(seen)) {
            try {
                apply(settling);
            } catch (IllegalStateException refused) {
                // It is logged, and looked at again when it changes.
            }
        }
    }

    /** Reads the configuration, and returns what differs. */
    synchronized List<String> now() {
        try {
            return apply(PAUSE_WHEN_ASKED);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the configuration was read", interrupted);
        }
    }

    private List<String> apply(Duration settling) throws InterruptedException {
        Callable<LimiterConfig> again = settings.again();
        if (again == null) {
            throw new IllegalStateException("the configuration was made in code and can't be read again; call"
                    + " Limiter.replace, or start with LimiterConfig.load(file)");
        }
        try {
            LimiterConfig now = limiter.config();
            LimiterConfig next = settled(again, settling);
            if (next == null || next.equals(now)) {
                LOG.info("the configuration was read again: nothing differs");
                return List.of();
            }
            limiter.replace(next);
            limitsIn = next.reload().limitsIn();
            return now.changes(next);
        } catch (InterruptedException interrupted) {
            throw interrupted;
        } catch (Exception | LinkageError wrong) {
            String message =
                    "RL-159 the configuration was read again and is refused, so the one before stays in force: "
                            + Objects.requireNonNullElseGet(wrong.getMessage(), wrong::toString);
            LOG.error(message);
            throw new IllegalStateException(message, wrong);
        }
    }

    /** What the files say that were the same before and after; null when this is closed. */
    private @Nullable LimiterConfig settled(Callable<LimiterConfig> again, Duration settling) throws Exception {
        for (int i = 0; i < MOST_READS; i++) {
            List<Object> before = contents();
            if (pause.isClosedAfter(settling)) {
                return null;
            }
            LimiterConfig next = null;
            Exception wrong = null;
            try {
                next = read(before, again);
            } catch (Exception e) {
                wrong = e;
            }
            seen = contents();
            if (seen.equals(before)) {
                if (wrong != null) {
                    throw wrong;
                }
                return next;
            }
        }
        seen = List.of();
        throw new IOException("RL-160 the files " + settings.files() + " change all the time; write them once");
    }

    private LimiterConfig read(List<Object> contents, Callable<LimiterConfig> again) throws Exception {
        for (Object content : contents) {
            if (content instanceof String unreadable) {
                throw new IOException("RL-160 a file can't be read (" + unreadable + "); put it back");
            }
        }
        LimiterConfig next = again.call();
        Set<String> empty = new TreeSet<>(limitsIn);
        empty.removeAll(next.reload().limitsIn());
        if (!empty.isEmpty()) {
            throw new IOException("RL-160 there is no rule and no policy any more in " + String.join(", ", empty)
                    + "; put one back, or restart to limit nothing by it");
        }
        return next;
    }

    private List<Object> contents() {
        return settings.files().stream().map(Reload::content).toList();
    }

    private static Object content(Path file) {
        try {
            return ByteBuffer.wrap(Files.readAllBytes(file));
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }

    /** Ends the thread; what was begun may end after that. */
    @Override
    public void close() {
        closed.countDown();
        Thread watching = thread;
        if (watching != null && watching != Thread.currentThread()) {
            try {
                watching.join(LONGEST_END_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
