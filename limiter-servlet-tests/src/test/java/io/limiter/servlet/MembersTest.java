package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rules that count members, over HTTP. What a member is to a backend is a contract of them all. */
class MembersTest extends Served {
    private static final String DISTINCT = """
            limiter.rules.r.path = /page
            limiter.rules.r.member = header:X-User
            limiter.rules.r.limits = 1/1h distinct
            """;

    private RateLimitFilter filter;

    private void start(String rules) {
        filter = WebServer.limiter(limiter, rules);
        server = Container.Kind.TOMCAT.start(directory, List.of(filter), Map.of("/page", (request, response) -> {}));
    }

    private int status(String... headers) {
        return server.status("/page", headers);
    }

    @Test
    void aMissingMemberIsOneMemberAndNotFree() {
        start(DISTINCT.replace("1/1h", "2/1h"));
        assertEquals(200, status());
        assertEquals(200, status("X-User", ""), "an empty one is missing");
        assertEquals(200, status("X-User", "a", "X-User", "b"), "so is an ambiguous one");
        assertEquals(200, status("X-User", "a"), "all of these were one member");
        for (String another : List.of("b", "127.0.0.1", "@~")) {
            assertEquals(429, status("X-User", another));
        }
        assertEquals(200, status());
    }

    @Test
    void twoMembersOfOneKeyInOneRequestAreTwoChargesOfOneDecision() {
        String rules = """
                limiter.policies.p.limits = 3/1h distinct
                limiter.rules.by.path = /page
                limiter.rules.by.member = header:X-By
                limiter.rules.by.policy = p
                limiter.rules.for.path = /page
                limiter.rules.for.member = header:X-For
                limiter.rules.for.policy = p
                """;
        Policy policy = WebServer.config(rules).policies().get("p");
        PartitionKey address = PartitionKey.of("127.0.0.1");
        start(rules);
        assertEquals(200, status("X-By", "a", "X-For", "b"));
        assertEquals(1, Looks.left(limiter, policy, address));
        assertEquals(429, status("X-By", "c", "X-For", "d"), "there is room for one of them");
        Await.until("neither of them was counted", () -> Looks.left(limiter, policy, address) == 1);
        assertEquals(200, status("X-By", "a", "X-For", "b"), "both are known");
        assertEquals(200, status("X-By", "a", "X-For", "c"), "a known one and a new one");
        assertEquals(429, status("X-By", "a", "X-For", "d"));
        assertEquals(429, status("X-By", "c", "X-For", "b"), "the same text in another header is another member");
    }

    @Test
    void aPlanWithoutMembersIgnoresThem() {
        start("""
                limiter.plans.free.limits = 1/1h distinct, 100/1d
                limiter.plans.gold.limits = 3/1h
                limiter.rules.r.path = /page
                limiter.rules.r.member = header:X-User
                limiter.rules.r.plan = header:X-Plan
                limiter.rules.r.default-plan = free
                """);
        assertEquals(200, status("X-User", "a"));
        assertEquals(429, status("X-User", "b"));
        assertEquals(200, status("X-User", "a"));
        assertEquals(
                List.of(200, 200, 200, 429),
                IntStream.range(0, 4)
                        .mapToObj(i -> status("X-User", "u" + i, "X-Plan", "gold"))
                        .toList());
    }

    @Test
    void explainedIsWhatTheMemberGets() {
        start(DISTINCT);
        assertEquals(200, status("X-User", "a"));
        RequestSample sample = RequestSample.of("GET", "/page", "127.0.0.1");
        for (Map.Entry<String, Integer> user : Map.of("a", 0, "b", 429).entrySet()) {
            Explanation explained = filter.explain(sample.withHeaders("X-User: " + user.getKey()));
            assertEquals(user.getValue(), explained.status());
            String member =
                    Objects.requireNonNull(explained.rules().get(0).charge().member());
            assertTrue(member.startsWith("header.x-user=~"), member);
            assertEquals(
                    explained.status() == 429,
                    explained.reason().contains(" with the member " + member + " "),
                    explained.reason());
        }
        Explanation missing = filter.explain(sample);
        assertEquals("", missing.rules().get(0).charge().member());
        assertTrue(missing.reason().contains(", without a member, "), missing.reason());
        assertEquals(200, status("X-User", "a"));
        assertEquals(429, status("X-User", "b"));
    }
}
