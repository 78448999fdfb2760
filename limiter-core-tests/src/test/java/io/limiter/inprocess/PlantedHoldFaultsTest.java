package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.TimeSource;
import io.limiter.kit.HeldRun;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Faults planted into what keeps reservations in this JVM, each of which the traffic or the timelines must find. */
@Tag("soak")
class PlantedHoldFaultsTest {
    private static final Path SOURCES = Path.of("../limiter-core/src/main/java/io/limiter/inprocess");
    private static final String PACKAGE = "io.limiter.inprocess.";
    private static final int STEPS = 5_000;
    private static final long SEED = 42;

    @TempDir
    Path folder;

    record Fault(String file, String name, String right, String wrong) {
        @Override
        public String toString() {
            return file + ": " + name;
        }
    }

    static Stream<Fault> faults() {
        return Stream.of(
                new Fault("HoldSet", "marked among the open ones", "(hold.isMarked ? marked : open).add", "open.add"),
                new Fault(
                        "HoldSet",
                        "the last ones first",
                        "int order = Long.compare(end, other.end);",
                        "int order = Long.compare(other.end, end);"),
                new Fault("HoldSet", "open at its end", "if (hold.end > now) {", "if (hold.end >= now) {"),
                new Fault("HoldSet", "all at once", "int PORTION = 50", "int PORTION = 500"),
                new Fault("HoldSet", "one at a time", "int PORTION = 50", "int PORTION = 1"),
                new Fault(
                        "HoldSet",
                        "gone and held",
                        "            held -= hold.permits;\n            state.free",
                        "            state.free"),
                new Fault(
                        "HoldSet", "gone and counted", "            state.free(hold.permits, hold.window, now);\n", ""),
                new Fault("HoldSet", "not marked", "            hold.isMarked = true;\n", ""),
                new Fault(
                        "HoldSet",
                        "kept by the time of the hold",
                        "place(hold, hold.end + hold.keep);",
                        "place(hold, hold.end + hold.ttl);"),
                new Fault("HoldSet", "kept for ever", "if (hold.end + hold.keep > now) {", "if (true) {"),
                new Fault("HoldSet", "not kept", "if (hold.end + hold.keep > now) {", "if (false) {"),
                new Fault(
                        "HoldSet", "forgotten a moment late", "marked.first().end <= now", "marked.first().end < now"),
                new Fault("HoldSet", "a table that looks full", "if (byId.size() >= most) {", "if (false) {"),
                new Fault("HoldSet", "no end of a table", "if (byId.size() < most) {", "if (true) {"),
                new Fault(
                        "HoldSet",
                        "one more than there is room",
                        "if (byId.size() < most) {",
                        "if (byId.size() <= most) {"),
                new Fault(
                        "HoldSet",
                        "the wait for an open one",
                        "marked.isEmpty() ? open.first().end + open.first().keep : marked.first().end",
                        "(open.isEmpty() ? marked : open).first().end + (open.isEmpty() ? marked : open).first().keep"),
                new Fault(
                        "HoldSet",
                        "the end before the memory of it",
                        "? open.first().end + open.first().keep",
                        "? open.first().end"),
                new Fault("State", "a reset that keeps records", "            reserved = null;\n", ""),
                new Fault(
                        "HoldSet",
                        "a bucket that pays at once",
                        "boolean isBucket = limit.algorithm() == Algorithm.TOKEN_BUCKET;",
                        "boolean isBucket = false;"),
                new Fault("HoldSet", "held by nobody", "        holds.held += n;\n", ""),
                new Fault("HoldSet", "settled twice", "            holds.forget(hold);\n", ""),
                new Fault("HoldSet", "settled and held", "                holds.held -= hold.permits;\n", ""),
                new Fault("HoldSet", "a late one pays the excess", "                excess = actual;\n", ""),
                new Fault("HoldSet", "what is not its own", "base = freed ? Math.min", "base = true ? Math.min"),
                new Fault("HoldSet", "each debt of any size", "Math.min(excess, limit.capacity())", "excess"),
                new Fault("HoldSet", "a late one as if in time", "if (hold.isMarked) {", "if (false) {"),
                new Fault(
                        "HoldSet",
                        "settled before what has run out",
                        "            holds.tidy(state, now);\n        }\n        if (stamp",
                        "        }\n        if (stamp"),
                new Fault(
                        "HoldSet",
                        "the first end",
                        "Math.max(now, open.last().end)",
                        "Math.max(now, open.first().end)"),
                new Fault(
                        "FixedWindowState",
                        "any window",
                        "end > now && end == window && count > 0",
                        "end > now && count > 0"),
                new Fault(
                        "FixedWindowState",
                        "no bound of a debt",
                        "Math.min(permits, Math.max(0, 2 * limit.permits() - counted))",
                        "permits"),
                new Fault("FixedWindowState", "a window anew", "counted > 0 || freed ? end", "counted > 0 ? end"),
                new Fault("FixedWindowState", "looks that write", "if (take && charge.permits() > 0) {", "if (true) {"),
                new Fault("TokenBucketState", "no ceiling", ">= permits + reserved.held())", ">= permits)"),
                new Fault("TokenBucketState", "a stranger's rest", "Math.max(0, whole - held)", "Math.max(0, whole)"),
                new Fault("TokenBucketState", "told too early", "return last - now + ceilDiv", "return ceilDiv"),
                new Fault(
                        "TokenBucketState",
                        "no bound of a debt",
                        "long charged = Math.min(permits, room);",
                        "long charged = permits;"),
                new Fault(
                        "TokenBucketState",
                        "a debt of a larger plan",
                        "whole < 0 ? -burst * unit : burst * unit",
                        "whole < 0 ? whole * unit : burst * unit"),
                new Fault("TokenBucketState", "looks that write", "if (take && charge.permits() > 0) {", "if (true) {"),
                new Fault(
                        "Transaction",
                        "no room for it",
                        "check.verdict = check.waitForRoom == 0 ? check.verdict : State.Verdict.DENIES;",
                        ""));
    }

    @Test
    void withoutAFaultNothingIsFound() throws Exception {
        assertEquals("", findings(new Fault("HoldSet", "none", "package", "package")));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(Fault fault) throws Exception {
        assertNotEquals("", findings(fault), "nobody noticed " + fault);
    }

    @Test
    void thereAreEnough() {
        assertTrue(faults().count() >= 20);
    }

    private String findings(Fault fault) throws Exception {
        String text = Files.readString(SOURCES.resolve(fault.file + ".java"));
        assertTrue(text.contains(fault.right), "the source has changed; plant this fault anew: " + fault);
        Path source = Files.writeString(folder.resolve(fault.file + ".java"), text.replace(fault.right, fault.wrong));
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-nowarn",
                        "-d",
                        folder.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString());
        assertEquals(0, failed, "the faulty source does not compile: " + fault);
        try {
            for (var algorithm : HeldRun.algorithms()) {
                run(HeldRun.of(algorithm, SEED));
                run(HeldRun.changing(algorithm, SEED));
            }
            run(HeldRun.mixed(SEED));
            run(HeldRun.crowded(SEED));
            for (Trace trace : Trace.all()) {
                if (trace.toString().startsWith("holds")) {
                    assertEquals(trace.lines(), trace.replay(new TestedBackend("faulty", this::open)));
                }
            }
            return "";
        } catch (AssertionError difference) {
            return "difference: " + difference.getMessage();
        } catch (RuntimeException | Error error) {
            return "error: " + error;
        }
    }

    private void run(HeldRun run) {
        ManualTime time = new ManualTime();
        try (Backend backend = open(time)) {
            run.against(backend, time, STEPS);
        }
    }

    /** The backend of the changed classes: all of its package are loaded anew. */
    private Backend open(TimeSource time) {
        ClassLoader loader = new ClassLoader(getClass().getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : name.startsWith(PACKAGE) ? define(name) : super.loadClass(name, resolve);
            }

            private Class<?> define(String name) throws ClassNotFoundException {
                String file = name.replace('.', '/') + ".class";
                Path changed = folder.resolve(file);
                try (InputStream in = Files.exists(changed)
                        ? Files.newInputStream(changed)
                        : getParent().getResourceAsStream(file)) {
                    byte[] code = in.readAllBytes();
                    return defineClass(name, code, 0, code.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        try {
            Object builder = loader.loadClass(PACKAGE + "InProcessBackend")
                    .getMethod("builder")
                    .invoke(null);
            builder.getClass().getMethod("timeSource", TimeSource.class).invoke(builder, time);
            return (Backend) builder.getClass().getMethod("build").invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
