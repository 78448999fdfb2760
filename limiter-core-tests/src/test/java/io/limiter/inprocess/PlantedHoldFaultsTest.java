package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend;
import io.limiter.TimeSource;
import io.limiter.kit.HeldRun;
import io.limiter.kit.Pages;
import io.limiter.kit.PlantedFault;
import io.limiter.kit.TestedBackend;
import io.limiter.kit.Trace;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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

    @TempDir
    Path folder;

    private static final String HOLD_SET = """
            marked among the open ones ## (hold.isMarked ? marked : open).add ## open.add
            the last ones first ## int order = Long.compare(end, other.end); ## int order = Long.compare(other.end, end);
            open at its end ## if (hold.end > now) { ## if (hold.end >= now) {
            all at once ## int PORTION = 50 ## int PORTION = 500
            one at a time ## int PORTION = 50 ## int PORTION = 1
            gone and held ##             held -= hold.permits;\\n            state.free ##             state.free
            gone and counted ##             state.free(hold.permits, hold.window, now);\\n ##
            not marked ##             hold.isMarked = true;\\n ##
            kept by the time of the hold ## place(hold, hold.end + hold.keep); ## place(hold, hold.end + hold.ttl);
            kept for ever ## if (hold.end + hold.keep > now) { ## if (true) {
            not kept ## if (hold.end + hold.keep > now) { ## if (false) {
            forgotten a moment late ## marked.first().end <= now ## marked.first().end < now
            a table that looks full ## if (byId.size() >= most) { ## if (false) {
            no end of a table ## if (byId.size() < most) { ## if (true) {
            one more than there is room ## if (byId.size() < most) { ## if (byId.size() <= most) {
            the wait for an open one ## marked.isEmpty() ? open.first().end + open.first().keep : marked.first().end ## (open.isEmpty() ? marked : open).first().end + (open.isEmpty() ? marked : open).first().keep
            the end before the memory of it ## ? open.first().end + open.first().keep ## ? open.first().end
            a bucket that pays at once ## boolean isBucket = limit.algorithm() == Algorithm.TOKEN_BUCKET; ## boolean isBucket = false;
            held by nobody ##         holds.held += n;\\n ##
            settled twice ##             holds.forget(hold);\\n ##
            settled and held ##                 holds.held -= hold.permits;\\n ##
            a late one pays the excess ##                 excess = actual;\\n ##
            what is not its own ## base = freed ? Math.min ## base = true ? Math.min
            each debt of any size ## Math.min(excess, limit.capacity()) ## excess
            a late one as if in time ## if (hold.isMarked) { ## if (false) {
            settled before what has run out ##             holds.tidy(state, now);\\n        }\\n        if (stamp ##         }\\n        if (stamp
            the first end ## Math.max(now, open.last().end) ## Math.max(now, open.first().end)
            """;

    private static final String STATE = """
            a reset that keeps records ##             reserved = null;\\n ##
            calls that give nothing back ## || reserved != null && reserved.lastKept() > Long.MIN_VALUE ##
            """;

    private static final String FIXED_WINDOW_STATE = """
            any window ## end > now && end == window && count > 0 ## end > now && count > 0
            no bound of a debt ## Math.min(permits, Math.max(0, 2 * limit.permits() - counted)) ## permits
            a window anew ## counted > 0 || freed ? end ## counted > 0 ? end
            """;

    private static final String TOKEN_BUCKET_STATE = """
            no ceiling ## >= permits + reserved.held()) ## >= permits)
            a stranger's rest ## Math.max(0, whole - held) ## Math.max(0, whole)
            told too early ## return last - now + ceilDiv ## return ceilDiv
            no bound of a debt ## long charged = Math.min(permits, chargeable); ## long charged = permits;
            a debt of a larger plan ## whole < 0 ? -burst * unit : burst * unit ## whole < 0 ? whole * unit : burst * unit
            """;

    private static final String TRANSACTION = """
            looks that write ## if (counts && check.charge.permits() > 0) { ## if (true) {
            no room for it ## check.verdict = check.waitForRoom == 0 ? check.verdict : State.Verdict.DENIES; ##
            """;

    static Stream<PlantedFault> faults() {
        return Stream.of(
                        PlantedFault.in("HoldSet", HOLD_SET),
                        PlantedFault.in("State", STATE),
                        PlantedFault.in("FixedWindowState", FIXED_WINDOW_STATE),
                        PlantedFault.in("TokenBucketState", TOKEN_BUCKET_STATE),
                        PlantedFault.in("Transaction", TRANSACTION))
                .flatMap(all -> all);
    }

    @Test
    void withoutAFaultNothingIsFound() {
        assertEquals("", findings(new PlantedFault("HoldSet", "none", "nothing", "nothing")));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void theKitFindsIt(PlantedFault fault) {
        fault.assertIsFound(source(fault), this::findings);
    }

    private static String source(PlantedFault fault) {
        return Pages.read(SOURCES.resolve(fault.where() + ".java"));
    }

    private void compile(PlantedFault fault) {
        try {
            Path source = Files.writeString(folder.resolve(fault.where() + ".java"), fault.apply(source(fault)));
            String options = "-proc:none -nowarn -d " + folder + " -cp " + System.getProperty("java.class.path");
            int failed =
                    ToolProvider.getSystemJavaCompiler().run(null, null, null, (options + " " + source).split(" "));
            assertEquals(0, failed, "the faulty source does not compile: " + fault);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String findings(PlantedFault fault) {
        compile(fault);
        TestedBackend faulty = new TestedBackend("faulty", this::open);
        try {
            for (var algorithm : HeldRun.algorithms()) {
                HeldRun.of(algorithm, HeldRun.SEED).against(faulty, HeldRun.LEAST_STEPS_IN_JVM);
                HeldRun.changing(algorithm, HeldRun.SEED).against(faulty, HeldRun.LEAST_STEPS_IN_JVM);
            }
            HeldRun.mixed(HeldRun.SEED).against(faulty, HeldRun.LEAST_STEPS_IN_JVM);
            HeldRun.crowded(HeldRun.SEED).against(faulty, 4 * HeldRun.LEAST_STEPS);
            for (Trace trace : Trace.all()) {
                if (trace.toString().startsWith("holds")) {
                    assertEquals(trace.lines(), trace.replay(faulty));
                }
            }
            return "";
        } catch (AssertionError difference) {
            return "difference: " + difference.getMessage();
        } catch (RuntimeException | Error error) {
            return "error: " + error;
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
