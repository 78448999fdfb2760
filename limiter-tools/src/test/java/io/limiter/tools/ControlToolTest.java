package io.limiter.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.control.Control;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line, with an instance on a real Redis. */
class ControlToolTest {
    private static final String ADDRESS = RedisServers.single();
    private static final String SECRET = "0123456789abcdef";
    private static final Duration LONG = Duration.ofSeconds(60);
    private final String group = "tool-" + System.nanoTime();
    private final Map<String, String> environment =
            Map.of("LIMITER_REDIS_ADDRESS", ADDRESS, "LIMITER_CONTROL_GROUP", group, "LIMITER_CONTROL_SECRET", SECRET);
    private final List<Limiter> open = new ArrayList<>();
    private String printed = "";

    @TempDir
    Path folder;

    @AfterEach
    void close() {
        open.forEach(Limiter::close);
    }

    private Limiter instance() {
        Limiter limiter = Limiter.start(LimiterConfig.builder()
                .property("limiter.redis.address", ADDRESS)
                .property("limiter.redis.deadline", "10s")
                .property("limiter.redis.prefix", group)
                .property("limiter.control.group", group)
                .property("limiter.control.secret", SECRET)
                .property("limiter.policies.export.limits", "2/1m")
                .build());
        open.add(limiter);
        return limiter;
    }

    private int runIn(String other, String... arguments) {
        return run(with(arguments, "--group", other));
    }

    private int run(String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int code = ControlTool.run(out, out, environment, arguments);
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
        assertEquals(0, run("publish", more, "--wait", "--author", "alice", "--note", "sale"), printed);
        assertTrue(printed.contains("published version 1\n1 of 1 instances run it"), printed);
        assertTrue(limiter.policy("export").limits().toString().contains("20/1m"));
        String bad = file("limiter.policies.export.limits = 30/1m\nlimiter.rules.x.policy = export\n");
        assertEquals(1, run("publish", bad, "--wait"), printed);
        assertTrue(printed.contains("RL-105"), printed);
        assertEquals(0, run("instances"), printed);
        assertTrue(printed.contains("RL-505"), printed);
        assertEquals(0, run("roll-back", "1", "--wait"), printed);
        assertTrue(printed.startsWith("limiter.policies.export.limits: 30/1m -> 20/1m\n"), printed);
        assertEquals(0, run("versions", "--json"), printed);
        assertTrue(printed.contains("\"version\":3") && printed.contains("\"author\":\"alice\""), printed);
        assertEquals(0, run("show"), printed);
        assertEquals("limiter.policies.export.limits = 20/1m\n", printed);
        assertEquals(3, run("publish", bad, "--based", "1"), printed);
        assertTrue(printed.contains("RL-510 version 3 by"), printed);
        assertTrue(printed.contains("limiter.policies.export.limits: 20/1m -> 30/1m"), printed);
        // After Redis has lost its data, too.
        assertEquals(3, runIn("empty-" + group, "publish", bad, "--based", "1"), printed);
    }

    /** Columns have heads, and nothing else is printed where there is nothing. */
    @Test
    void tablesHaveHeads() throws Exception {
        assertEquals(0, run("versions"), printed);
        assertEquals("", printed);
        run("publish", file("limiter.policies.export.limits = 20/1m\n"), "--author", "alice");
        run("roll-back", "0", "--author", "al", "--note", "back");
        assertEquals(0, run("versions"), printed);
        List<String> lines = printed.lines().toList();
        assertTrue(lines.get(0).matches("version +time +author  change +note"), printed);
        assertTrue(lines.get(1).matches("2 +\\S+Z +al +back to version 0: .*20/1m -> \\(own\\)  back"), printed);
        assertTrue(lines.get(2).matches("1 +\\S+Z +alice +limiter.*\\(own\\) -> 20/1m +-"), printed);
    }

    @Test
    void overridesAndSwitches() throws Exception {
        Limiter limiter = instance();
        Await.until(LONG, "it has reported", () -> run("instances") == 0 && !printed.isEmpty());
        PartitionKey alice = PartitionKey.builder().add("user", "alice").build();
        String[] add = {"override", "add", "--policy", "export", "--key", "user:alice", "--until", "2h"};
        assertEquals(0, run(with(add, "--limits", "5/1m")), printed);
        Await.until(LONG, "in force", () -> Control.inForce(limiter, false) == 1);
        for (int i = 0; i < 5; i++) {
            assertTrue(limiter.tryAcquire("export", alice, 1).allowed());
        }
        assertFalse(limiter.tryAcquire("export", alice, 1).allowed());
        assertEquals(2, run(with(add, "--limits", "5/1h fixed")), printed);
        assertTrue(printed.contains("RL-152"), printed);
        assertEquals(0, run(with(add, "--limits", "5/1h fixed", "--yes")), printed);
        assertEquals(
                2, run("override", "add", "--policy", "expert", "--key", "user:alice", "--until", "2h", "--blocked"));
        assertTrue(printed.contains("no instance has reported a policy 'expert'"), printed);
        assertEquals(0, run("override", "list"), printed);
        assertTrue(printed.contains("user=alice  5/1h fixed"), printed);
        assertEquals(0, run("override", "remove", "--policy", "export", "--key", "user=alice"), printed);
        assertEquals(0, run("switch", "set", "--target", "all", "--action", "deny", "--until", "2026-12-31"), printed);
        Await.until(
                LONG,
                "denied",
                () -> !limiter.tryAcquire("export", PartitionKey.of("a"), 1).allowed());
        assertEquals(0, run("switch", "remove", "--target", "all"), printed);
        assertTrue(printed.startsWith("all: deny until 2026-12-31T00:00:00Z -> nothing\n"), printed);
        assertEquals(0, run("versions"), printed);
        assertEquals(6, printed.lines().count(), printed);
    }

    private static String[] with(String[] some, String... more) {
        String[] all = Arrays.copyOf(some, some.length + more.length);
        System.arraycopy(more, 0, all, some.length, more.length);
        return all;
    }

    @Test
    void wrongArguments() throws Exception {
        assertEquals(0, run("help"));
        assertTrue(printed.contains("Exit codes"), printed);
        assertEquals(2, run());
        assertEquals(2, run("publish"), printed);
        assertEquals(2, run("publish", file("limiter.polices.x.limits = 1/1s\n")), printed);
        assertTrue(printed.contains("RL-101"), printed);
        assertEquals(2, run("override", "add", "--policy", "p", "--key", "header:X:secret", "--until", "2h"), printed);
        assertEquals(2, run("switch", "set", "--target", "all", "--action", "deny", "--until", "soon"), printed);
        assertEquals(2, run("switch", "set", "--target", "all", "--action", "deny"), printed);
        assertEquals(2, run("nonsense"), printed);
        assertEquals(2, run("versions", "--nonsense"), printed);
        assertEquals(2, ControlTool.run(System.out, System.out, Map.of(), "versions"));
        assertEquals(2, ControlTool.run(System.out, System.out, Map.of("LIMITER_CONTROL_GROUP", group), "versions"));
        assertEquals(
                4,
                ControlTool.run(
                        System.out,
                        System.out,
                        Map.of(
                                "LIMITER_REDIS_ADDRESS",
                                "redis://127.0.0.1:1",
                                "LIMITER_CONTROL_GROUP",
                                group,
                                "LIMITER_CONTROL_SECRET",
                                SECRET),
                        "versions"));
    }
}
