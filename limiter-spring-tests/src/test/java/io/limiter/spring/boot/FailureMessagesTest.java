package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.spring.RateLimited;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;

/** What a newcomer reads when the start fails, word by word as Spring Boot prints it. */
@ExtendWith(OutputCaptureExtension.class)
class FailureMessagesTest {
    @TempDir
    Path folder;

    @Import({BootApp.Nothing.class, Votes.class})
    static class Voting {}

    static class Votes {
        @RateLimited(value = "vote", key = "#choice")
        public void vote(String choice) {}
    }

    @Test
    void severalMistakesInTheFile(CapturedOutput output) {
        assertPrinted(output, """
                limiter:
                  policies:
                    vote:
                      limit: 3/10s
                  rules:
                    api:
                      path: /api/*/x
                      limits: 100 per minute
                """, BootApp.Nothing.class, """
                application.yml has 3 problems:
                  line 4: RL-101 limiter.policies.vote.limit = 3/10s: unknown key; did you mean \
                'limiter.policies.vote.limits'?
                  line 7: RL-104 limiter.rules.api.path = /api/*/x: '/api/*/x' can't be matched at '*'; a path is plain decoded \
                text, with * only as its last segment (/api/*), ** and a variable only as whole segments (/api/**/export, /users/{id})
                  line 8: RL-104 limiter.rules.api.limits = 100 per minute: in '100 per minute': '100' is not a limit; write \
                permits/period without spaces, such as 3/10s
                """, """
                Correct these lines; each contains what to write instead.
                """);
    }

    @Test
    void redisWithoutAnAddress(CapturedOutput output) {
        assertPrinted(output, "limiter.backend: redis", BootApp.Nothing.class, """
                application.yml has 1 problem:
                  line 1: RL-105 limiter.backend = redis: Redis needs an address.
                """, """
                Add limiter.redis.address = redis://127.0.0.1:6379, or limiter.redis.config = classpath:redisson.yaml.
                """);
    }

    @Test
    void anAnnotationWithoutItsPolicy(CapturedOutput output) {
        assertPrinted(output, "limiter.policies.votes.limits: 3/10s", Voting.class, """
                RL-120 @RateLimited at io.limiter.spring.boot.FailureMessagesTest$Votes.vote(String): no policy 'vote' is configured.
                """, """
                There are [votes]; write one of them, or add limiter.policies.vote.limits = 3/10s.
                """);
    }

    @Test
    void aRedissonFileThatIsNotThere(CapturedOutput output) {
        assertPrinted(output, "limiter.redis.config: classpath:redison.yaml", BootApp.Nothing.class, """
                RL-108 limiter.redis.config = classpath:redison.yaml can't be read (there is no such resource on the class path).
                """, """
                Write classpath:name or file:path of a file that is there.
                """);
    }

    @Test
    void otherFailuresAreNotOurs(CapturedOutput output) {
        assertThrows(
                RuntimeException.class,
                () -> BootApp.start(folder, "spring.config.import: file:nowhere.yml", Map.of(), BootApp.Nothing.class)
                        .close());
        assertTrue(!output.getAll().contains("RL-"), output.getAll());
    }

    private void assertPrinted(
            CapturedOutput output, String yaml, Class<?> application, String description, String action) {
        assertThrows(
                RuntimeException.class,
                () -> BootApp.start(folder, yaml, Map.of(), application).close());
        String all = output.getAll().replace("\r", "");
        String printed = all.substring(all.indexOf("\nDescription:\n"));
        String expected = "\nDescription:\n\n" + description + "\nAction:\n\n" + action;
        printed = printed.replaceAll("(?:file|URL) \\[\\S*/(\\S+)]", "$1");
        assertEquals(expected + "\n", printed.substring(0, Math.min(printed.length(), expected.length() + 1)));
    }
}
