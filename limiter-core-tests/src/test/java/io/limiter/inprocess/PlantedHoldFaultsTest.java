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
        String idle = "Math.max(0, idle - hold.idle)";
        String debt = "Math.min(Math.min(excess, most), Math.max(0, 2 * most - counted(limit, now)))";
        return Stream.of(
                new Fault("HeldState", "settled twice", "hold == null || hold.isSettled", "hold == null"),
                new Fault("HeldState", "no bound of a debt", debt, "excess"),
                new Fault("HeldState", "each debt up to the capacity", debt, "Math.min(excess, most)"),
                new Fault(
                        "HeldState",
                        "a late one pays the excess",
                        "isOpen ? cost - hold.permits : cost",
                        "cost - hold.permits"),
                new Fault("HeldState", "an excess for nothing", "if (charged > 0) {", "if (false) {"),
                new Fault(
                        "HoldRecords",
                        "open at its end",
                        "        List<Hold> gone = runOut(now);\n",
                        "        List<Hold> gone = runOut(now - 1);\n"),
                new Fault("HoldRecords", "settled and held", "        held -= was ? hold.permits : 0;\n", ""),
                new Fault("HeldState", "no end of a table", "return records.size() >= most\n", "return false\n"),
                new Fault("HeldState", "a reset that ends nothing", "        records.endAll();\n", ""),
                new Fault("HoldRecords", "a short memory of late ones", "Math.max(0, now - hold.end);", "0;"),
                new Fault(
                        "HeldState",
                        "all comes back",
                        "of(charge, hold.permits - cost), limit",
                        "of(charge, hold.permits), limit"),
                new Fault("HeldState", "a table that looks full", "if (records.size() >= most ||", "if ("),
                new Fault("HoldRecords", "any id", "&& hold.id == Long.parseUnsignedLong(id, 16)", ""),
                new Fault("HoldRecords", "kept for ever", "&& hold.keptUntil > now", ""),
                new Fault("HoldRecords", "two with one end", "all.get(at).end == end; at++", "false; at++"),
                new Fault("HoldRecords", "purged a moment late", "hold.keptUntil <= now", "hold.keptUntil < now"),
                new Fault(
                        "HoldRecords", "the first place of all", "all.add(place(hold.end), hold)", "all.add(0, hold)"),
                new Fault("HoldRecords", "kept as long as the last one", "Math.max(lastKept, hold", "Math.max(0, hold"),
                new Fault("HeldBucketState", "no ceiling", "permits + held(limit.spec(), now), now", "permits, now"),
                new Fault("HeldBucketState", "idle time is lost", idle, "0"),
                new Fault("HeldBucketState", "idle time before it began", "idle - hold.idle", "idle"),
                new Fault("HeldBucketState", "idle time for several", "        idle -= ceilDiv(spare, rate);\n", ""),
                new Fault(
                        "HeldBucketState",
                        "idle while it refills",
                        "Math.max(idleUntil, state.fullAtMicros())",
                        "idleUntil"),
                new Fault("HeldBucketState", "told too early", "return last - now + ceilDiv", "return ceilDiv"),
                new Fault("HeldBucketState", "a stranger's rest", "whole - held)", "whole)"),
                new Fault(
                        "HeldWindowState",
                        "no window of nothing",
                        "        if (settled.counted(now) == 0 && !isKept(now)) {",
                        "        if (settled.counted(now) == 0) {"),
                new Fault(
                        "HeldWindowState", "a window that lasts", "settled.counted(now) == 0 && !isKept(now)", "false"),
                new Fault("HeldWindowState", "looks that write", "write ? state : state.copy()", "state"),
                new Fault("HeldLogState", "looks that write", "write ? state : state.copy()", "state"),
                new Fault(
                        "HeldLogState",
                        "in the order of the ends",
                        "                .sorted(Comparator.comparingLong(hold -> hold.stamp))\n",
                        ""),
                new Fault("HeldBucketState", "idle at any rate", "idle = Math.max(LEAST_IDLE, idle - OTHER_RATE);", ""),
                new Fault("HeldLogState", "any period", "isKept(now) ? period : limit", "false ? period : limit"),
                new Fault(
                        "HeldLogState",
                        "the shortest for ever",
                        "isKept(now) ? period : limit",
                        "true ? period : limit"),
                new Fault(
                        "TokenBucketState",
                        "a debt of a larger plan",
                        "Math.max(-full, Math.min(stored, full))",
                        "Math.min(stored, full)"),
                new Fault(
                        "Transaction",
                        "no room for it",
                        "if (check.isAllowed() && check.waitForRoom != 0) {",
                        "if (false) {"));
    }

    @Test
    void withoutAFaultNothingIsFound() throws Exception {
        assertEquals("", findings(new Fault("HeldState", "none", "package", "package")));
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
