package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The README's snippets: Java is compiled and run here, properties are read, tables tell the defaults that there are. */
class ReadmeTest {
    private static final Path README = Path.of("../README.md");
    private static final Path THIS = Path.of("src/test/java/io/limiter/ReadmeTest.java");

    @Test
    void everyJavaSnippetStandsInThisTest() throws IOException {
        String here = flat(Files.readString(THIS));
        // Those with annotations are compiled by the tests of limiter-spring.
        List<String> snippets = blocks("java").stream()
                .filter(code -> !code.contains("@RateLimited"))
                .toList();
        assertEquals(2, snippets.size());
        for (String snippet : snippets) {
            assertTrue(here.contains(flat(snippet)), "not compiled by ReadmeTest:\n" + snippet);
        }
    }

    @Test
    void everyPropertiesSnippetIsRight() throws IOException {
        List<String> snippets = blocks("properties");
        assertEquals(3, snippets.size());
        for (String snippet : snippets) {
            LimiterConfig config = LimiterConfig.builder()
                    .text("README.md", new StringReader(snippet))
                    .build();
            assertFalse(config.rules().isEmpty() && config.redis().addresses().isEmpty());
        }
    }

    @Test
    void theTableOfPropertiesNamesAllOfThemWithTheirDefaults() throws IOException {
        LimiterConfig defaults = LimiterConfig.builder().build();
        List<String> rows = List.of(
                "`limiter.enabled` | `" + defaults.enabled() + "`",
                "`limiter.exempt.addresses` | ",
                "`limiter.deny.addresses` | ",
                "`limiter.deny.status` | `" + defaults.callers().deniedStatus() + "`",
                "`limiter.backend` | `in-process`",
                "`limiter.reload` | ",
                "`limiter.instances` | `" + defaults.instances() + "`",
                "`limiter.jmx.name` | ",
                "`limiter.redis.address` | ",
                "`limiter.redis.mode` | `single`",
                "`limiter.redis.master` | ",
                "`limiter.redis.config` | ",
                "`limiter.redis.deadline` | `" + defaults.redis().deadline().toMillis() + "ms`",
                "`limiter.redis.startup-wait` | `"
                        + defaults.redis().startupWait().toSeconds() + "s`",
                "`limiter.redis.denial-cache.max-age` | `"
                        + defaults.redis().denialMaxAge().toSeconds() + "s`",
                "`limiter.redis.prefix` | `" + defaults.redis().prefix() + "`",
                "`limiter.in-process.max-entries` | `" + defaults.inProcess().maxEntries() + "`",
                "`limiter.in-process.max-stamps` | `" + defaults.inProcess().maxStamps() + "`",
                "`limiter.wait.max-waiting` | `" + defaults.inProcess().maxWaiting() + "`",
                "`limiter.client-ip.trusted-proxies` | ",
                "`limiter.client-ip.trusted-hops` | ",
                "`limiter.client-ip.header` | `X-Forwarded-For`",
                "`limiter.client-ip.ipv6-prefix` | `" + defaults.clientIp().ipv6PrefixBits() + "`",
                "`limiter.http.headers` | `draft-10` |",
                "`limiter.http.x-ratelimit-reset` | `epoch` |",
                "`limiter.http.expose-headers` | `" + defaults.http().exposeHeaders() + "` |",
                "`limiter.http.ignore-case` | `" + defaults.http().ignoreCase() + "` |",
                "`limiter.http.ignore-trailing-slash` | `" + defaults.http().ignoreTrailingSlash() + "` |",
                "`limiter.http.method-override` | `declared` |",
                "`limiter.http.rejection-handler` | ");
        for (String row : rows) {
            assertTrue(Files.readString(README).contains("| " + row), "README.md lacks the row " + row);
        }
    }

    @Test
    void withAConfigurationFile() throws IOException {
        // The snippet reads a file of the working folder, as a reader's program would.
        Path file = Path.of("limiter.properties");
        try {
            Files.writeString(file, "limiter.policies.vote.limits = 3/10s\n");
            assertEquals("thank you", vote("192.0.2.1"));
        } finally {
            Files.delete(file);
        }
    }

    private static String vote(String clientAddress) throws IOException {
        try (Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")))) {
            Decision decision = limiter.tryAcquire("vote", PartitionKey.of(clientAddress), 1);
            if (!decision.allowed()) {
                return "try again in " + decision.retryAfter().orElseThrow();
            }
            return "thank you";
        }
    }

    @Test
    void withoutOne() {
        ManualTime time = new ManualTime();
        Backend backend = InProcessBackend.builder().timeSource(time).build();
        Policy sms =
                Policy.of("sms", Limit.slidingList(1, Duration.ofMinutes(1)), Limit.fixedWindow(5, Duration.ofDays(1)));

        try (RateLimiter limiter = RateLimiter.on(backend)) {
            PartitionKey user = PartitionKey.of("alice");
            Decision first = limiter.tryAcquire(sms, user, 1);
            Decision second = limiter.tryAcquire(sms, user, 1);
            assertTrue(first.allowed());
            assertEquals("sms-1m", second.violated().get(0).limit().name());

            limiter.refund(first); // the message could not be sent
            assertTrue(limiter.tryAcquire(sms, user, 1).allowed());

            time.advance(Duration.ofMinutes(1));
            assertEquals(1, limiter.peek(sms, user).outcomes().get(0).remaining());
        }
    }

    private static List<String> blocks(String language) throws IOException {
        List<String> blocks = new ArrayList<>();
        Matcher block =
                Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(README));
        while (block.find()) {
            blocks.add(block.group(1));
        }
        return blocks;
    }

    /** Without white space: the formatter indents and breaks lines as it likes. */
    private static String flat(String code) {
        return code.replaceAll("\\s+", "");
    }
}
