package io.limiter.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.http.internal.request.Request;
import io.limiter.rule.KeyResolver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainTest {
    private static final String RULES = """
            limiter.rules.vote.path = /vote
            limiter.rules.vote.methods = POST
            limiter.rules.vote.key = header:X-Api-Key
            limiter.rules.vote.limits = 3/1m
            limiter.rules.closed.path = /closed
            limiter.rules.closed.limits = 0/1m
            limiter.rules.own.path = /own
            limiter.rules.own.key = class:io.limiter.tools.ExplainTest$Key
            limiter.rules.own.limits = 5/1m
            """;

    /** Needs the request of a server. */
    public static final class Key implements KeyResolver<Request> {
        @Override
        public PartitionKey resolve(Request subject) {
            throw new AssertionError("called");
        }
    }

    @TempDir
    Path folder;

    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    private int run(String... options) throws IOException {
        Path file = Files.writeString(folder.resolve("limiter.properties"), RULES);
        PrintStream out = new PrintStream(written, true, StandardCharsets.UTF_8);
        return Explain.run(
                out,
                out,
                Stream.concat(Stream.of(file.toString()), Stream.of(options)).toArray(String[]::new));
    }

    private void has(String line) {
        assertTrue(written.toString(StandardCharsets.UTF_8).contains(line), written.toString(StandardCharsets.UTF_8));
    }

    @Test
    void aRequestMeetsItsRulesAndLeavesTheOthers() throws IOException {
        assertEquals(0, run("--method", "POST", "--path", "/%76ote?id=7", "--header", "X-Api-Key: abc"));
        has("admitted: all limits allow it");
        has("paths [/vote], client 192.0.2.1 (peer)");
        has("+ vote (enforced): it matches");
        has("charges 1 to policy vote, key header.x-api-key=~");
        has("limit 3/1m sliding-list name vote: allows, leaves 2");
        has("- closed (enforced): the path is not one of [/closed]");
    }

    @Test
    void aDenialHasItsStatus() throws IOException {
        assertEquals(0, run("--path", "/app/closed", "--context-path", "/app"));
        has("answered with 429: policy 'closed' denies the key 192.0.2.1 by its limit 0/1m");
    }

    @Test
    void aClassOfTheApplicationIsNamed() throws IOException {
        assertEquals(0, run("--path", "/own"));
        has("+ own (enforced): it matches; key decided by class " + Key.class.getName() + " with each request");
    }

    @Test
    void whatIsWrongIsTold() throws IOException {
        assertEquals(2, run("--colour", "red"));
        has("there is no option --colour");
        assertEquals(2, run("--path"));
        has("--path has no value");
        assertEquals(2, run("--path", "vote"));
        has("the path does not begin with a slash");
    }
}
