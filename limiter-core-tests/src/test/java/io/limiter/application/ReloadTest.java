package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.ConfigException;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a configuration file that has changed, or what is in its place, does to a running limiter. What happens between two reads is
 * done by the test's pause.
 */
class ReloadTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration PAUSE = Duration.ofMillis(7);
    private static final String VOTE = "limiter.policies.vote.limits = %d/1h fixed\n";

    @TempDir
    Path folder;

    private Path file;
    private Limiter limiter;
    private Reload reload;
    private final LogLines log = new LogLines().ofThreads("limiter-reload", "junit-timeout-thread");
    /** What somebody does to the file during the next pauses, one each. */
    private final Deque<Runnable> meanwhile = new ArrayDeque<>();

    @BeforeEach
    void start() throws IOException {
        file = folder.resolve("limiter.properties");
        write(VOTE.formatted(3));
        limiter = Limiter.start(LimiterConfig.load(file));
        reload = new Reload(
                limiter,
                limiter.config(),
                time -> {
                    assertEquals(PAUSE, time);
                    if (!meanwhile.isEmpty()) {
                        meanwhile.remove().run();
                    }
                    return false;
                },
                PAUSE);
    }

    @AfterEach
    void close() {
        limiter.close();
        log.close();
    }

    private void write(String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void look() {
        assertDoesNotThrow(() -> reload.look());
    }

    private long permits() {
        return limiter.policy("vote").limits().get(0).permits();
    }

    private void assertRefused(String... words) {
        LimiterConfig before = limiter.config();
        int lines = log.of(Level.ERROR, "RL-159").size();
        look();
        look();
        assertSame(before, limiter.config());
        List<String> refused = log.of(Level.ERROR, "RL-159");
        assertEquals(lines + 1, refused.size(), "once, however often it is looked at: " + log);
        for (String word : words) {
            assertTrue(refused.get(lines).contains(word), () -> word + " in " + refused.get(lines));
        }
    }

    @Test
    void aChangedFileIsInForceStateIsKeptAndWhatDiffersIsLogged() {
        limiter.tryAcquire("vote", KEY, 2);
        write(VOTE.formatted(5) + "limiter.policies.new.limits = 1/1m\nlimiter.rules.r.path = /r\n"
                + "limiter.rules.r.policy = new\n");
        look();
        assertEquals(2, limiter.tryAcquire("vote", KEY, 1).remaining());
        assertEquals(
                List.of(
                        "RL-162 limiter.policies.vote.limits: 3/1h fixed -> 5/1h fixed",
                        "RL-162 limiter.policies.new.limits: (not set) -> 1/1m",
                        "RL-162 limiter.rules.r.path: (not set) -> /r",
                        "RL-162 limiter.rules.r.policy: (not set) -> new"),
                log.of(Level.INFO, "RL-162"));
        write(VOTE.formatted(5));
        look();
        assertEquals(
                List.of(
                        "RL-161 limiter.policies.new was removed and counts nothing any more",
                        "RL-161 limiter.rules.r was removed and counts nothing any more"),
                log.of(Level.WARN, "RL-161"));
        assertEquals(
                List.of(
                        "RL-162 limiter.policies.new.limits: 1/1m -> (not set)",
                        "RL-162 limiter.rules.r.path: /r -> (not set)",
                        "RL-162 limiter.rules.r.policy: new -> (not set)"),
                log.of(Level.INFO, "RL-162").subList(4, 7));
    }

    @Test
    void theOnlyRuleMayBeSwitchedOffForThatWasAskedFor() {
        String rule = "limiter.rules.r.path = /r\nlimiter.rules.r.limits = 1/1m\n";
        write(rule);
        look();
        write(rule + "limiter.rules.r.enabled = false\n");
        look();
        assertEquals(List.of(), log.of(Level.ERROR, ""));
        assertEquals(1, log.of(Level.WARN, "RL-156 rule 'r' is off").size(), log::toString);
    }

    @Test
    void aFileWrittenInTwoStepsIsReadWholeAndOnce() {
        String whole = VOTE.formatted(9) + "limiter.policies.other.limits = 1/1s\n";
        write(VOTE.formatted(9));
        meanwhile.add(() -> write(whole));
        look();
        assertEquals(List.of("vote", "other"), List.copyOf(limiter.policies().keySet()));
        assertEquals(
                1, log.of(Level.INFO, "RL-162 limiter.policies.vote.limits: ").size(), log::toString);
        look();
        assertEquals(
                1, log.of(Level.INFO, "RL-162 limiter.policies.vote.limits: ").size(), log::toString);
    }

    @Test
    void whatIsEmptyOrGoneForAMomentOnlyIsNotSeen() throws IOException {
        write("");
        meanwhile.add(() -> write(VOTE.formatted(4)));
        look();
        assertEquals(4, permits());
        Files.delete(file);
        meanwhile.add(() -> write(VOTE.formatted(5)));
        look();
        assertEquals(5, permits());
        assertEquals(List.of(), log.of(Level.ERROR, ""));
    }

    @Test
    void aFileThatIsReadWhileItChangesIsReadAgain() throws Exception {
        write(VOTE.formatted(6));
        // A pause is before each read; the file changes when it has been parsed.
        LimiterConfig first = LimiterConfig.builder()
                .text("limiter.properties", new StringReader(VOTE.formatted(6)))
                .readAgain(List.of(file), () -> {
                    LimiterConfig read = LimiterConfig.load(file);
                    if (read.policies().get("vote").limits().get(0).permits() == 6) {
                        write(VOTE.formatted(7));
                    }
                    return read;
                })
                .build();
        new Reload(limiter, first, time -> false, PAUSE).look();
        assertEquals(7, permits());
        assertEquals(1, log.of(Level.INFO, "RL-162").size(), log::toString);
    }

    @Test
    void aFileThatNeverRestsIsRefused() {
        write(VOTE.formatted(4));
        for (int i = 0; i < 100; i++) {
            long permits = 5 + i;
            meanwhile.add(() -> write(VOTE.formatted(permits)));
        }
        look();
        assertEquals(3, permits());
        assertEquals(1, log.of(Level.ERROR, "RL-159").size(), log::toString);
        meanwhile.clear();
        look();
        assertTrue(permits() > 3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n\n",
                "# limiter.policies.vote.limits = 3/1h\n",
                "limiter.http.headers = none\n",
                "limiter.plan-lookup.wait = 1ms\n"
            })
    void withoutAnyRuleOrPolicyItIsRefused(String text) {
        write(text);
        assertRefused("RL-160", "limiter.properties");
    }

    @Test
    void alsoWhereTheRestOfTheLimitsIsElsewhere() throws Exception {
        LimiterConfig both = both();
        try (Limiter other = Limiter.start(both)) {
            write("# nothing\n");
            assertTrue(assertThrows(IllegalStateException.class, other::reload)
                    .getMessage()
                    .contains("RL-160"));
            assertEquals(2, other.policies().size());
        }
    }

    @Test
    void whatCodeAddsLiesOverEachContentOfTheFile() throws Exception {
        LimiterConfig more = LimiterConfig.load(file).toBuilder()
                .property("limiter.rules.login.path", "/login")
                .property("limiter.rules.login.policy", "own")
                .policy(Policy.of("own", Limit.fixedWindow(1, Duration.ofHours(1))))
                .build();
        try (Limiter other = Limiter.start(more)) {
            assertEquals(List.of(), other.reload(), "the file is the same");
            write(VOTE.formatted(5));
            assertEquals(List.of("RL-162 limiter.policies.vote.limits: 3/1h fixed -> 5/1h fixed"), other.reload());
            assertEquals(Set.of("vote", "own"), other.policies().keySet());
            assertEquals(1, other.config().settings().rules().size());
        }
    }

    @Test
    void aFileOfATreeHasLimitsOnlyIfItIsThatOfLimits() {
        Map<String, String> keys = new TreeMap<>(Map.of(
                "limiter.policies.other.limits", "1/1h",
                "limiter.rules.r.path", "/r",
                "limiter.rules.r.limits", "1/1m",
                "limiter.rules.r.shadow", "true"));
        try (Limiter other = Limiter.start(tree(keys))) {
            keys.remove("limiter.rules.r.shadow");
            assertEquals(List.of("RL-162 limiter.rules.r.shadow: true -> (not set)"), other.reload());
            keys.remove("limiter.policies.other.limits");
            String refused =
                    assertThrows(IllegalStateException.class, other::reload).getMessage();
            assertTrue(refused.contains("RL-160 no rule or policy is left in limiter.policies.other.limits;"), refused);
        }
    }

    private static LimiterConfig tree(Map<String, String> keys) {
        LimiterConfig.Builder all = LimiterConfig.builder();
        keys.forEach((key, value) -> all.property(key, 1, key, value));
        return all.readAgain(List.of(), () -> tree(keys)).build();
    }

    private LimiterConfig both() throws IOException {
        return LimiterConfig.builder()
                .file(file)
                .property("init-param", 0, "limiter.policies.other.limits", "1/1h")
                .readAgain(List.of(file), this::both)
                .build();
    }

    @Test
    void allMistakesOfABadFileAreLogged() throws IOException {
        write("limiter.policies.vote.limits = many\nlimiter.polices.x.limits = 1/1h\nlimiter.http.headers = some\n");
        assertRefused("3 problems", "line 1: RL-104", "line 2: RL-101", "line 3: RL-104");
        write("limiter.policies.vote.limits = 9/1h fixed\nlimiter.instances = 7\nlimiter.redis.deadline = 60ms\n");
        assertRefused("RL-150 limiter.redis.deadline, limiter.instances");
        write(VOTE.formatted(9) + "limiter.reload.interval = 5s\n");
        assertRefused("RL-150 limiter.reload.interval");
        Files.write(file, new byte[] {'l', (byte) 0xff, '=', '1'});
        assertRefused("RL-103");
    }

    @Test
    void theRulesBeforeAgainAreNoChange() {
        write("nonsense");
        look();
        write(VOTE.formatted(3));
        LimiterConfig before = limiter.config();
        look();
        assertSame(before, limiter.config());
        assertEquals(List.of(), log.of(Level.INFO, "RL-162"));
    }

    @Test
    void askedByCodeItReturnsWhatDiffersOrThrowsAllMistakes() {
        assertEquals(List.of(), limiter.reload());
        write(VOTE.formatted(7));
        assertEquals(1, limiter.reload().size());
        write("limiter.policies.vote.limits = many\n");
        String message =
                assertThrows(IllegalStateException.class, limiter::reload).getMessage();
        assertTrue(message.startsWith("RL-159 ") && message.contains("= many"), message);
        assertEquals(7, permits());
        try (Limiter ofCode = Limiter.start(LimiterConfig.builder().build())) {
            assertThrows(IllegalStateException.class, ofCode::reload);
        }
    }

    @Test
    void theIntervalHasBoundsAndNeedsAFile() {
        for (String wrong : List.of(
                "reload.interval = 999ms",
                "reload.interval = 61m",
                "reload.interval = soon",
                "relaod.interval = 5s",
                "reload = 5s")) {
            write(VOTE.formatted(3) + "limiter." + wrong + "\n");
            String said = assertThrows(ConfigException.class, () -> LimiterConfig.load(file))
                    .getMessage();
            assertTrue(said.contains("line 2: ") && said.contains("limiter.reload.interval"), said);
        }
        LimiterConfig.Builder code = LimiterConfig.builder().properties("t", Map.of("limiter.reload.interval", "5s"));
        ConfigException noFile = assertThrows(ConfigException.class, code::build);
        assertTrue(noFile.getMessage().contains("RL-158 limiter.reload.interval = 5s"), noFile::getMessage);
    }

    @Test
    void oneDaemonThreadWatchesAndEndsWithTheLimiter() throws Exception {
        assertEquals(0, watching(), "not unless it is asked for");
        write(VOTE.formatted(3) + "limiter.reload.interval = 1s\n");
        try (Limiter watched = Limiter.start(LimiterConfig.load(file))) {
            assertEquals(1, watching());
            write(VOTE.formatted(30) + "limiter.reload.interval = 1s\n");
            Await.until(
                    "the change", () -> watched.policy("vote").limits().get(0).permits() == 30);
        }
        // Close waits for it for 2 s.
        Await.until("it has ended", () -> watching() == 0);
        assertFalse(Thread.currentThread().isInterrupted());
    }

    private static long watching() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("limiter-reload") && thread.isDaemon())
                .count();
    }

    /** Nothing, or a folder; one never ends, one has no writer, and one is larger than any configuration. */
    private void put(String kind) throws Exception {
        Files.deleteIfExists(file);
        switch (kind) {
            case "nothing" -> {}
            case "folder" -> Files.createDirectory(file);
            case "device" -> Files.createSymbolicLink(file, Path.of("/dev/zero"));
            case "FIFO" ->
                assertEquals(
                        0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
            default -> {
                try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
                    large.setLength((16 << 20) + 1L);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "folder", "device", "FIFO", "large"})
    void whatIsNoFileOfReasonableSizeIsRefusedAtOnceAndBackItIsRead(String kind) throws Exception {
        put(kind);
        String present = kind.equals("large") ? "16 MB" : "no regular file";
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            assertRefused("RL-160", kind.equals("nothing") ? "NoSuchFileException" : present);
            assertThrows(IllegalStateException.class, limiter::reload);
            assertThrows(IOException.class, () -> LimiterConfig.load(file));
        });
        Files.deleteIfExists(file);
        write(VOTE.formatted(8));
        look();
        assertEquals(8, permits());
    }

    @Test
    void anErrorIsLoggedAndTheWatchGoesOn() throws Exception {
        Deque<Error> errors = new ArrayDeque<>(List.of(new OutOfMemoryError("of a test"), new AssertionError("x")));
        write(VOTE.formatted(3) + "limiter.reload.interval = 1s\n");
        LimiterConfig config = LimiterConfig.builder()
                .file(file)
                .readAgain(List.of(file), () -> {
                    if (!errors.isEmpty()) {
                        throw errors.remove();
                    }
                    return LimiterConfig.load(file);
                })
                .build();
        try (Limiter watched = Limiter.start(config)) {
            for (int i = 1; i <= 2; i++) {
                int refused = i;
                write(VOTE.formatted(3) + "limiter.reload.interval = 1s\n".repeat(i));
                Await.until("refused", () -> log.of(Level.ERROR, "RL-159").size() == refused);
            }
            write(VOTE.formatted(30) + "limiter.reload.interval = 1s\n");
            Await.until(
                    "the change", () -> watched.policy("vote").limits().get(0).permits() == 30);
            assertTrue(log.of(Level.ERROR, "RL-159").get(0).contains("OutOfMemoryError"), log::toString);
        }
    }

    @Test
    void aFileThatIsReplacedByRenameOrBehindALinkThatIsSwitched() throws IOException {
        Path next = Files.writeString(folder.resolve("next"), VOTE.formatted(4));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        look();
        assertEquals(4, permits());
        Path data = folder.resolve("..data");
        Files.delete(file);
        folder(1);
        Files.createSymbolicLink(data, Path.of("v1"));
        Files.createSymbolicLink(file, Path.of("..data", "limiter.properties"));
        look();
        assertEquals(10, permits());
        folder(2);
        Files.createSymbolicLink(folder.resolve("..tmp"), Path.of("v2"));
        Files.move(folder.resolve("..tmp"), data, StandardCopyOption.ATOMIC_MOVE);
        look();
        assertEquals(20, permits());
    }

    private void folder(int version) throws IOException {
        Path one = Files.createDirectory(folder.resolve("v" + version));
        Files.writeString(one.resolve("limiter.properties"), VOTE.formatted(10 * version));
    }
}
