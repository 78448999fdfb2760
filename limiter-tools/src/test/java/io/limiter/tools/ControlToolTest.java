package io.limiter.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.control.Control;
import io.limiter.control.ControlFixture;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Year;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line, with an instance on a real Redis. */
class ControlToolTest {
    private static final String ADDRESS = RedisServers.single();
    private final String group = "tool-" + System.nanoTime();
    private final Map<String, String> environment = Map.of(
            "LIMITER_REDIS_ADDRESS", ADDRESS,
            "LIMITER_CONTROL_GROUP", group,
            "LIMITER_CONTROL_SECRET", ControlFixture.SECRET);
    private final List<Limiter> open = new ArrayList<>();
    private String printed = "";

    @TempDir
    Path folder;

    @AfterEach
    void close() {
        open.forEach(Limiter::close);
    }

    private Limiter instance() {
        Limiter limiter = Limiter.start(ControlFixture.config(ADDRESS, group, group)
                .property("limiter.policies.export.limits", "2/1m")
                .build());
        open.add(limiter);
        return limiter;
    }

    /** As an operator does on a machine that needs longer than the tool waits: again, unless it may have changed something. */
    private int run(String... arguments) {
        AtomicInteger code = new AtomicInteger();
        Await.until("Redis is reached", () -> {
            code.set(runWith("LIMITER_CONTROL_GROUP", group, arguments));
            boolean isRead = List.of("show", "versions", "instances", "list").contains(String.join(" ", arguments));
            return code.get() != 4 || !(isRead || printed.startsWith("RL-220 no connection"));
        });
        return code.get();
    }

    private int runWith(String variable, String value, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Map<String, String> variables = new HashMap<>(environment);
        variables.put(variable, value);
        int code = ControlTool.run(out, out, variables, arguments);
        printed = bytes.toString(StandardCharsets.UTF_8);
        return code;
    }

    private String file(String text) throws IOException {
        return Files.writeString(folder.resolve("text.properties"), text).toString();
    }

    @Test
    void publishesAndRollsBack() throws Exception {
        Limiter limiter = instance();
        String more = file("limiter.policies.export.limits = 20/1m\n");
        assertEquals(0, run("publish", more, "--dry-run"), printed);
        assertEquals("limiter.policies.export.limits: (own) -> 20/1m\n", printed);
        assertEquals(0, run("publish", more, "--author", "alice", "--note", "sale"), printed);
        assertTrue(printed.endsWith("published version 1\n"), printed);
        Await.until("it runs it", () -> run("instances") == 0);
        assertTrue(limiter.policy("export").limits().toString().contains("20/1m"));
        String bad = file("limiter.policies.export.limits = 30/1m\nlimiter.rules.x.policy = export\n");
        assertEquals(0, run("publish", bad), printed);
        Await.until("it says why not", () -> run("instances") == 1 && printed.contains("RL-505"));
        assertTrue(printed.contains("RL-105"), printed);
        assertEquals(0, run("roll-back", "1"), printed);
        assertTrue(printed.startsWith("limiter.policies.export.limits: 30/1m -> 20/1m\n"), printed);
        assertEquals(0, run("show"), printed);
        assertEquals("limiter.policies.export.limits = 20/1m\n", printed);
        assertEquals(3, run("publish", bad, "--based", "1"), printed);
        assertTrue(printed.contains("RL-510 version 3 by"), printed);
        assertTrue(printed.contains("limiter.policies.export.limits: 20/1m -> 30/1m"), printed);
        // After Redis has lost its data, too.
        String empty = "empty-" + group;
        assertEquals(3, runWith("LIMITER_CONTROL_GROUP", empty, "publish", bad, "--based", "1"), printed);
    }

    /** Columns have heads. */
    @Test
    void tablesHaveHeads() throws Exception {
        assertEquals(0, run("versions"), printed);
        assertEquals(1, printed.lines().count(), printed);
        run("publish", file("limiter.policies.export.limits = 20/1m\n"), "--author", "alice");
        run("roll-back", "0", "--author", "al", "--note", "back");
        assertEquals(0, run("versions"), printed);
        List<String> lines = printed.lines().toList();
        assertTrue(lines.get(0).matches("version +time +author +change +note"), printed);
        assertTrue(lines.get(1).matches("2 +\\S+Z +al +back to version 0: .*20/1m -> \\(own\\)  back"), printed);
        assertTrue(lines.get(2).matches("1 +\\S+Z +alice +limiter.*\\(own\\) -> 20/1m"), printed);
    }

    @Test
    void overridesAndSwitches() throws Exception {
        Limiter limiter = instance();
        PartitionKey alice = PartitionKey.builder().add("user", "alice").build();
        assertEquals(0, run("set", "policy:export", "user:alice", "--to", "5/1m", "--until", "2h"), printed);
        Await.until("in force", () -> Control.inForce(limiter, false) == 1);
        for (int i = 0; i < 5; i++) {
            assertTrue(limiter.tryAcquire("export", alice, 1).allowed());
        }
        assertFalse(limiter.tryAcquire("export", alice, 1).allowed());
        assertEquals(0, run("list"), printed);
        assertTrue(printed.contains("policy:export user=alice"), printed);
        assertEquals(0, run("remove", "policy:export", "user=alice"), printed);
        String end = Year.now(ZoneOffset.UTC).getValue() + 1 + "-12-31T00:00:00Z";
        assertEquals(0, run("set", "all", "--to", "deny", "--until", end), printed);
        Await.until(
                "denied",
                () -> !limiter.tryAcquire("export", PartitionKey.of("a"), 1).allowed());
        assertEquals(0, run("remove", "all"), printed);
        assertTrue(printed.startsWith("all: deny until " + end + " -> nothing\n"), printed);
        assertEquals(0, run("versions"), printed);
        assertEquals(5, printed.lines().count(), printed);
    }

    /** What a command does not take would be forgotten without a word. */
    @Test
    void optionsAndWordsOfOtherCommands() throws Exception {
        String text = file("limiter.policies.export.limits = 20/1m\n");
        assertEquals(0, run("publish", text), printed);
        text = file("limiter.policies.export.limits = 30/1m\n");
        assertEquals(0, run("publish", text, "--based", "1"), printed);
        for (String line : List.of(
                "publish FILE --until 2h",
                "publish FILE FILE --dry-run",
                "publish FILE --note --dry-run",
                "roll-back 1 --based 2",
                "roll-back 1 --until 2h",
                "roll-back 1 0",
                "versions --author al",
                "show 1 2",
                "instances --dry-run",
                "set all --to deny --until 2h --based 2",
                "set all --to deny --until 2h --dry-run",
                "set policy:export user:alice blocked --to blocked --until 2h",
                "remove all --dry-run",
                "list all")) {
            List<String> words = List.of(line.replace("FILE", text).split(" "));
            assertEquals(2, run(words.toArray(String[]::new)), line + ": " + printed);
            assertTrue(printed.startsWith("'" + words.get(0) + "' "), printed);
        }
        assertTrue(printed.startsWith("'list' does not take all; "), printed);
        assertEquals(2, run("roll-back", "1", "--until", "2h"), printed);
        assertTrue(printed.startsWith("'roll-back' does not take --until; "), printed);
        assertEquals(0, run("roll-back", "1", "--dry-run"), printed);
        assertEquals("limiter.policies.export.limits: 30/1m -> 20/1m\n", printed);
        assertEquals(0, run("versions"), printed);
        assertEquals(3, printed.lines().count(), printed);
    }

    @Test
    void wrongArguments() throws Exception {
        assertEquals(0, run("help"));
        assertTrue(printed.contains("Exit codes"), printed);
        assertEquals(2, run());
        assertEquals(2, run("publish"), printed);
        assertEquals(2, run("publish", file("limiter.polices.x.limits = 1/1s\n")), printed);
        assertTrue(printed.contains("RL-101"), printed);
        assertEquals(2, run("set", "policy:p", "header:X:secret", "--to", "blocked", "--until", "2h"), printed);
        assertEquals(2, run("set", "all", "--to", "deny", "--until", "soon"), printed);
        assertEquals(2, run("set", "all", "--to", "deny"), printed);
        assertEquals(2, run("nonsense"), printed);
        assertEquals(2, run("versions", "--nonsense"), printed);
        assertEquals(2, ControlTool.run(System.out, System.out, Map.of(), "versions"));
        assertEquals(2, ControlTool.run(System.out, System.out, Map.of("LIMITER_CONTROL_GROUP", group), "versions"));
        assertEquals(4, runWith("LIMITER_REDIS_ADDRESS", RedisServers.nobody(), "versions"), printed);
    }
}
