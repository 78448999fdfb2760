package io.limiter.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.control.Control;
import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.RedisServers;
import io.limiter.redis.RedisBackend;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The commands of the page for an incident, as they are written there, on sixty instances. */
@Tag("long")
class IncidentTest {
    private static final String ADDRESS = RedisServers.single();
    private static final int INSTANCES = 60;
    private static final PartitionKey ALICE =
            PartitionKey.builder().add("user", "alice").build();

    private final String group = "incident-" + System.nanoTime();
    private final Map<String, String> environment = Map.of(
            "LIMITER_REDIS_ADDRESS", ADDRESS,
            "LIMITER_CONTROL_GROUP", group,
            "LIMITER_CONTROL_SECRET", "0123456789abcdef");
    private final List<Limiter> fleet = new ArrayList<>();

    @TempDir
    Path folder;

    /** The commands below a heading of the page, in their order. */
    private static List<String> commands() {
        String page = Pages.text("operations");
        String heading = "\n## In an incident\n";
        String section = page.substring(page.lastIndexOf(heading) + heading.length());
        return section.replaceAll("(?s)\n## .*", "")
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("limiter "))
                .map(line -> line.substring("limiter ".length()))
                .toList();
    }

    private String run(String command) {
        List<String> arguments = new ArrayList<>();
        Matcher words = Pattern.compile("\"([^\"]*)\"|(\\S+)").matcher(command);
        while (words.find()) {
            arguments.add(words.group(1) == null ? words.group(2) : words.group(1));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int code = ControlTool.run(out, out, environment, arguments.toArray(String[]::new));
        String printed = bytes.toString(StandardCharsets.UTF_8);
        // Instances may not have reported yet.
        assertTrue(code == 0 || command.equals("instances"), command + ": " + printed);
        return printed;
    }

    private void timed(String command, Predicate<Limiter> isInForce) {
        long start = System.nanoTime();
        run(command);
        long ran = System.nanoTime();
        Await.until(command, () -> fleet.stream().allMatch(isInForce));
        long end = System.nanoTime();
        System.out.printf(
                "%-80s command %d ms, on %d instances after %d ms more%n",
                command, (ran - start) / 1_000_000, INSTANCES, (end - ran) / 1_000_000);
        assertTrue(end - start < Duration.ofMinutes(1).toNanos(), command);
    }

    @Test
    void eachTakesLessThanAMinute() throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(ADDRESS).setConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        try {
            for (int i = 0; i < INSTANCES; i++) {
                fleet.add(Limiter.start(
                        LimiterConfig.builder()
                                .applicationHasClient(true)
                                .property("limiter.redis.prefix", group)
                                .property("limiter.control.group", group)
                                .property("limiter.control.secret", "0123456789abcdef")
                                .property("limiter.policies.export.limits", "2/1m")
                                .property("limiter.rules.login.path", "/login")
                                .property("limiter.rules.login.limits", "2/1m")
                                .build(),
                        RedisBackend.builder().client(client).build()));
            }
            Await.until("all have reported", () -> run("instances").lines().count() == INSTANCES + 1);
            Path text =
                    Files.writeString(folder.resolve("night.properties"), "limiter.policies.export.limits = 3/1m\n");
            timed("publish " + text, one -> has(one, "[3/1m"));
            Files.writeString(text, "limiter.policies.export.limits = 4/1m\n");
            timed("publish " + text, one -> has(one, "[4/1m"));
            List<String> commands = commands();
            assertEquals(8, commands.size(), commands.toString());
            timed(commands.get(0), one -> Control.inForce(one, false) == 1);
            for (int i = 0; i < 5; i++) {
                assertTrue(fleet.get(i).tryAcquire("export", ALICE, 1).allowed());
            }
            timed(
                    commands.get(1),
                    one -> one.tryAcquire("export", PartitionKey.of("203.0.113.7"), 1)
                            .blocked());
            Files.writeString(
                    text, run(commands.get(2).replaceFirst(" > .*", "")) + "limiter.rules.login.shadow = true\n");
            timed(
                    commands.get(3).replace("now.properties", text.toString()),
                    one -> mode(one).equals("SHADOW"));
            timed(
                    commands.get(4).replace("41", "1"),
                    one -> has(one, "[3/1m") && mode(one).equals("ENFORCED"));
            timed(commands.get(5), one -> Control.inForce(one, false) == 1);
            timed(commands.get(6), one -> Control.inForce(one, false) == 0);
            assertEquals(INSTANCES + 1, run(commands.get(7)).lines().count());
        } finally {
            fleet.forEach(Limiter::close);
            client.shutdown();
        }
    }

    private static boolean has(Limiter limiter, String limits) {
        return limiter.policy("export").limits().toString().contains(limits);
    }

    private static String mode(Limiter limiter) {
        return limiter.config().settings().rules().get(0).mode().name();
    }
}
