package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be in the place of a configuration file while it is watched. */
class ReloadedFilesTest extends ChangingFile {
    @Test
    void goneItIsRefusedAndBackItIsRead() throws IOException {
        Files.delete(file);
        assertRefused("RL-160", "NoSuchFileException");
        write(VOTE.formatted(8));
        look();
        assertEquals(8, permits());
    }

    @Test
    void aFolderInItsPlaceIsRefused() throws IOException {
        Files.delete(file);
        Files.createDirectory(file);
        assertRefused("RL-160");
    }

    /** One never ends, one has no writer, and one is larger than any configuration. */
    private void put(String kind) throws Exception {
        Files.deleteIfExists(file);
        switch (kind) {
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
    @ValueSource(strings = {"device", "FIFO", "large"})
    void whatIsNoFileOfReasonableSizeIsRefusedAtOnce(String kind) throws Exception {
        put(kind);
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            assertRefused("RL-160", kind.equals("large") ? "16 MB" : "no regular file");
            assertThrows(IllegalStateException.class, limiter::reload);
            assertThrows(IOException.class, () -> LimiterConfig.load(file));
        });
        Files.delete(file);
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
