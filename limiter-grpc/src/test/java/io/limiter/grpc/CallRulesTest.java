package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.kit.Await;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.door.Callers;
import io.limiter.kit.door.DoorTest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of the configuration, over a real server: what the contract of the other doors has, in terms of calls. */
class CallRulesTest extends HandOver {

    /** Answers with the status that the message names; a message tells tokens too: NOT_FOUND 30. */
    private CallSite start(String rules) throws Exception {
        site = CallSite.start(
                decides,
                rules,
                (message, to) -> {
                    String[] words = message.split(" ");
                    if (words.length > 1) {
                        GrpcCall.current().ifPresent(call -> call.set("tokens", words[1]));
                    }
                    if (words[0].equals("FAIL")) {
                        throw new IllegalStateException("meant");
                    } else if (words[0].equals("THROW")) {
                        throw Status.NOT_FOUND.asRuntimeException();
                    } else if (words[0].equals("OK")) {
                        return message;
                    }
                    io.grpc.Metadata trailers = new io.grpc.Metadata();
                    trailers.put(GrpcRequest.key("x-outcome"), words[0]);
                    to.onError(Status.fromCode(Code.valueOf(words[0])).asRuntimeException(trailers));
                    return null;
                },
                CallSite::withUsers);
        return site;
    }

    private void assertLeft(long left, String policy, String after) {
        Await.until(left + " left after " + after, () -> site.left(policy) == left);
    }

    private void assertOneEach(String... headers) {
        for (String one : headers) {
            String[] all = one.isEmpty() ? new String[0] : one.split("\\|");
            assertEquals(Code.OK, site.vote("OK", all).end().code(), one);
            assertEquals(Code.RESOURCE_EXHAUSTED, site.vote("OK", all).end().code(), one);
        }
    }

    @Test
    void pathsAreMethodsAndHeadersAreMetadata() throws Exception {
        start("""
                limiter.rules.vote.path = /t.Votes/Vote
                limiter.rules.vote.methods = POST
                limiter.rules.vote.headers = X-Kind=batch
                limiter.rules.vote.key = ip + header:X-Api-Key
                limiter.rules.vote.limits = 1/1h fixed
                limiter.rules.by-name.path = /{service}/Watch
                limiter.rules.by-name.key = path:service + bearer
                limiter.rules.by-name.limits = 1/1h fixed
                """);
        assertOneEach("X-Kind: batch", "x-kind: batch|x-api-key: a", "X-Kind: batch|X-Api-Key: b");
        Explanation why = site.interceptor.explain(
                RequestSample.of("POST", "/t.Votes/Vote", "127.0.0.1").withHeaders("X-Kind: batch"));
        assertEquals(429, why.status(), why.toString());
        assertEquals(java.util.Set.of("by-name"), site.interceptor.unusedRules().keySet());
        IntStream.range(0, 3)
                .forEach(i -> assertEquals(Code.OK, site.vote("OK").end().code(), "without the header"));
        assertEquals(Code.OK, site.watch("Authorization: Bearer t1").say("OK").code());
        assertEquals(
                Code.RESOURCE_EXHAUSTED,
                site.watch("authorization: bearer t1").say("OK").code());
    }

    @Test
    void usersRolesAndAddressesAreThoseOfTheCaller() throws Exception {
        start(Callers.RULES);
        Map<Code, Integer> statuses = Map.of(Code.OK, 200, Code.RESOURCE_EXHAUSTED, 429, Code.PERMISSION_DENIED, 403);
        Callers.assertKnown(headers -> statuses.getOrDefault(code(headers), 0));
    }

    private Code code(String... headers) {
        return site.vote("OK", headers).end().code();
    }

    /** Plans, from metadata and from a class, and costs. */
    @Test
    void plansAndCosts() throws Exception {
        start("""
                limiter.plans.gold.limits = 4/1h fixed
                limiter.plans.free.limits = 2/1h fixed
                limiter.plan-lookup.wait = 10s
                limiter.rules.header.path = /t.Votes/Vote
                limiter.rules.header.key = header:K
                limiter.rules.header.plan = header:X-Plan
                limiter.rules.header.default-plan = free
                limiter.rules.header.cost = header:X-Size max 3
                limiter.rules.resolver.path = /t.Votes/Watch
                limiter.rules.resolver.key = header:K
                limiter.rules.resolver.plan = %s
                limiter.rules.resolver.default-plan = free
                """.formatted(DoorTest.Plans.class.getName()));
        assertEquals(List.of(Code.OK, Code.OK, Code.RESOURCE_EXHAUSTED), codes(3, "K: a"));
        assertEquals(List.of(Code.OK, Code.RESOURCE_EXHAUSTED), codes(2, "K: b", "X-Plan: gold", "X-Size: 3"));
        for (int i = 0; i < 5; i++) {
            assertEquals(
                    i < 4 ? Code.OK : Code.RESOURCE_EXHAUSTED,
                    site.watch("K: gold").say("OK").code());
        }
    }

    private List<Code> codes(int calls, String... headers) {
        return IntStream.range(0, calls).mapToObj(i -> code(headers)).toList();
    }

    @Test
    void outcomesDecideWhatIsKept() throws Exception {
        start("""
                limiter.rules.login.path = /*
                limiter.rules.login.key = global
                limiter.rules.login.limits = 20/1h fixed
                limiter.rules.login.count-on = 401, 5xx, header:grpc-status=7, header:X-Outcome=NOT*, attribute:tokens=9
                """);
        String[][] sent = {
            {"0", "OK"},
            {"1", "UNAUTHENTICATED"},
            {"1", "ALREADY_EXISTS"},
            {"2", "UNAVAILABLE"},
            {"3", "PERMISSION_DENIED"},
            {"4", "NOT_FOUND"},
            {"4", "OK 8"},
            {"5", "OK 9"},
            {"6", "FAIL"},
            {"6", "THROW"}
        };
        for (String[] one : sent) {
            site.vote(one[1]).end();
            assertLeft(20 - Long.parseLong(one[0]), "login", one[1]);
        }
    }

    @Test
    void costsAreSettledByTheAnswer() throws Exception {
        start("""
                limiter.policies.tokens.limits = 100/1h fixed
                limiter.policies.tokens.holds = 1000
                limiter.rules.by-attribute.path = /*
                limiter.rules.by-attribute.key = global
                limiter.rules.by-attribute.policy = tokens
                limiter.rules.by-attribute.cost = 10
                limiter.rules.by-attribute.settle = attribute:tokens
                """);
        long left = 100;
        for (String message : List.of("OK 30", "OK 3", "FAIL", "OK", "NOT_FOUND 0", "OK 0")) {
            left -= message.contains(" ") ? Long.parseLong(message.split(" ")[1]) : 10;
            site.vote(message).end();
            assertLeft(left, "tokens", message);
        }
    }

    /** Of a stream: nobody tells its cost, and the client says that it is 1. */
    @Test
    void whoLeavesBeforeTheEndDoesNotChooseTheCost() throws Exception {
        start("""
                limiter.policies.tokens.limits = 10000/1h fixed
                limiter.policies.tokens.holds = 1000
                limiter.rules.chat.path = /*
                limiter.rules.chat.key = global
                limiter.rules.chat.policy = tokens
                limiter.rules.chat.cost = header:X-Max-Tokens min 1 max 4000 default 500
                limiter.rules.chat.settle = attribute:tokens
                """);
        CallSite.Talk talk = site.chat("X-Max-Tokens: 1").say("OK");
        assertEquals("OK", talk.messages.poll(60, TimeUnit.SECONDS));
        talk.cancel();
        Await.until("left", () -> site.left.get() == 1);
        assertLeft(6_000, "tokens", "it left");

        talk = site.chat("X-Max-Tokens: 1").say("OK 77");
        assertEquals("OK 77", talk.messages.poll(60, TimeUnit.SECONDS));
        talk.cancel();
        Await.until("left", () -> site.left.get() == 2);
        assertLeft(5_923, "tokens", "what was sent was told");

        assertEquals(Code.OK, site.vote("OK", "X-Max-Tokens: 1").end().code());
        assertLeft(5_423, "tokens", "it stayed");
        assertEquals(Code.UNKNOWN, site.vote("FAIL", "X-Max-Tokens: 1").end().code());
        assertLeft(4_923, "tokens", "the service failed");
    }

    @Test
    void shadowsDefaultsExemptPathsAndRulesInCode() throws Exception {
        site = CallSite.start(
                decides,
                """
                limiter.policies.code.limits = 1/1h fixed
                limiter.rules.shadow.path = /*
                limiter.rules.shadow.shadow = true
                limiter.rules.shadow.limits = 0/1h
                limiter.rules.rest.default = true
                limiter.rules.rest.limits = 1/1h fixed
                limiter.rules.rest.except = /t.Votes/Vote
                """,
                (message, to) -> message,
                builder -> builder.rule(call -> call.headers().get(GrpcRequest.key("X-Code")) == null
                        ? null
                        : new Charge(site.limiter.policy("code"), PartitionKey.global(), 1)));
        assertEquals(List.of(Code.OK, Code.OK), codes(2));
        assertEquals(List.of(Code.OK, Code.RESOURCE_EXHAUSTED), codes(2, "X-Code: yes"));
        for (Code expected : List.of(Code.OK, Code.RESOURCE_EXHAUSTED)) {
            assertEquals(expected, site.sum().code());
        }
        Explanation why = site.interceptor.explain(RequestSample.of("POST", "/t.Votes/Sum", "127.0.0.1"));
        assertTrue(why.toString().contains("rules in code decide"), "the rule in code needs a call: " + why);
    }

    /** It counts nothing here, so it leaves calls to the default rule; nor is its condition read. */
    @ParameterizedTest
    @ValueSource(strings = {"methods = GET, POST\nlimiter.rules.web.key = session", "headers = trace-bin"})
    void aRuleOfAnotherDoorCoversNoCalls(String line) throws Exception {
        site = CallSite.start(
                decides,
                """
                limiter.rules.web.path = /*
                limiter.rules.web.limits = 100/1h
                limiter.rules.rest.default = true
                limiter.rules.rest.limits = 1/1h fixed
                limiter.rules.web.%s
                """.formatted(line),
                (message, to) -> message,
                RateLimitServerInterceptor.Builder::besideOtherDoors);
        assertEquals(List.of(Code.OK, Code.RESOURCE_EXHAUSTED), codes(2));
    }

    /** Why no interceptor can be made. */
    private String refused(String rules) {
        RateLimitServerInterceptor.Builder builder =
                RateLimitServerInterceptor.builder(Limiter.of(CallSite.config(rules), decides));
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, builder::build).getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "key = session",
                "key = ip + cookie:c",
                "key = query:q",
                "query = kind",
                "methods = GET",
                "key = user",
                "exempt.roles = ADMIN",
                "key = header:trace-bin",
                "headers = trace-bin=x",
                "cost = header:cost-bin min 1 max 9 default 1",
                "methods = POST, ext:MESSAGE",
                "key = header:$wsep",
                "headers = $wsep",
                "refund-on = header:reason-bin",
                "holds = 9\nlimiter.rules.r.settle = response-header:cost-bin"
            })
    void whatACallDoesNotHaveFailsTheStart(String line) {
        String rules = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h fixed\nlimiter.rules.r." + line + "\n";
        Limiter limiter = Limiter.of(CallSite.config(rules), decides);
        Facts.told(refused(rules), "RL-194", "'r'", "gRPC");
        try (LogLines log = new LogLines()) {
            RateLimitServerInterceptor.builder(limiter)
                    .besideOtherDoors()
                    .build()
                    .close();
            assertEquals(1, log.of(Level.WARN, "RL-194").size(), log.toString());
        }
        RateLimitServerInterceptor.builder(limiter)
                .configuredRules(name -> false)
                .build()
                .close();
    }

    @Test
    void messagesHaveNoEnd() {
        for (String line : List.of(
                "refund-on = 404", "holds = 9\nlimiter.rules.r.settle = attribute:a", "limits = 3 concurrent")) {
            String rules = "limiter.rules.r.path = /*\n"
                    + (line.startsWith("limits") ? "" : "limiter.rules.r.limits = 1/1h fixed\n")
                    + "limiter.rules.r.methods = ext:MESSAGE\nlimiter.rules.r." + line + "\n";
            Facts.told(refused(rules), "RL-194", "'r'", "ext:MESSAGE");
        }
    }

    @Test
    void aHandlerOfHttpIsReported() {
        Limiter limiter = Limiter.of(CallSite.config("""
                        limiter.rules.r.path = /*
                        limiter.rules.r.limits = 1/1h
                        limiter.http.rejection-handler = com.example.Answers
                        """), decides);
        try (LogLines log = new LogLines()) {
            RateLimitServerInterceptor.builder(limiter).build().close();
            Facts.told(log.of(Level.WARN, "RL-144").get(0), "RL-144", "com.example.Answers", "GrpcRejectionHandler");
        }
    }

    @Test
    void noRulesFailTheStart() {
        Facts.told(refused("limiter.policies.p.limits = 1/1h\n"), "RL-109");
    }

    @Test
    void twoInterceptorsChargeACallOnce() throws Exception {
        String rules = """
                limiter.rules.one.path = /*
                limiter.rules.one.key = global
                limiter.rules.one.limits = 9/1h fixed
                limiter.rules.two.path = /*
                limiter.rules.two.key = global
                limiter.rules.two.limits = 3 concurrent
                """;
        Limiter limiter = Limiter.of(CallSite.config(rules), decides);
        try (RateLimitServerInterceptor second =
                RateLimitServerInterceptor.builder(limiter).build()) {
            site = new CallSite(limiter, (message, to) -> message, builder -> builder, second);
            for (int i = 1; i <= 9; i++) {
                CallSite.Ended ended = site.vote("OK").end();
                assertEquals(Code.OK, ended.code());
                assertEquals("\"one\";r=" + (9 - i) + ";t=3600, \"two\";r=2", ended.trailer("RateLimit"));
                assertEquals(3, site.left("two"));
            }
            assertEquals(Code.RESOURCE_EXHAUSTED, code());
            assertEquals(3, site.left("two"));
        }
    }
}
