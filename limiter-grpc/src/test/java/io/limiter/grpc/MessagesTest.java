package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status.Code;
import io.limiter.RateLimiter;
import io.limiter.grpc.CallSite.Ended;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams that are counted by message, beside those that are counted by call. */
class MessagesTest {
    private static final String RULES = """
            limiter.rules.calls.path = /t.Votes/*
            limiter.rules.calls.key = header:K
            limiter.rules.calls.limits = 3/1h fixed
            limiter.rules.calls-in-flight.path = /t.Votes/*
            limiter.rules.calls-in-flight.key = global
            limiter.rules.calls-in-flight.limits = 5 concurrent
            limiter.rules.messages.path = /t.Votes/Chat
            limiter.rules.messages.methods = ext:MESSAGE
            limiter.rules.messages.key = header:K
            limiter.rules.messages.limits = 4/1h fixed
            """;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachMessageIsChargedAndTheFirstDeniedEndsTheStream(boolean redis) throws Exception {
        try (RateLimiter decides = Backends.limiter(redis);
                CallSite site = CallSite.start(decides, RULES, (message, to) -> "re " + message)) {
            Talk talk = site.chat("K: a").say("1", "2", "3");
            for (String each : List.of("re 1", "re 2", "re 3")) {
                assertEquals(each, talk.messages.poll(60, java.util.concurrent.TimeUnit.SECONDS));
            }
            talk.say("4", "5", "6").over();
            Ended ended = talk.end();
            assertEquals(Code.RESOURCE_EXHAUSTED, ended.code());
            assertEquals(List.of("re 4"), ended.messages());
            // The hour began with the first message.
            assertTrue(
                    ended.trailer("RateLimit").matches(".*\"messages\";r=0;t=3[56][0-9]{2}\\b.*"),
                    ended.trailer("RateLimit"));
            assertTrue(ended.trailer("Retry-After").matches("3[56][0-9]{2}"), ended.trailer("Retry-After"));
            Await.until("nothing is in flight", () -> site.taken("calls-in-flight", 5) == 0);
            // The quota of calls is another one, and other streams are not counted by message.
            assertEquals(
                    Code.OK, site.sum("K: a").say("1", "2", "3", "4", "5", "6").code());
            assertEquals(Code.RESOURCE_EXHAUSTED, site.chat("K: a").say("7").code());
            assertEquals(Code.RESOURCE_EXHAUSTED, site.chat("K: a").code());
            assertEquals(
                    List.of("re 1", "re 2", "re 3", "re 4"),
                    site.chat("K: b").say("1", "2", "3", "4").over().end().messages());
        }
    }

    /** A stream is slowed down: each message waits for its permit, in its order, and none is lost. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void messagesWaitInTheirOrder(boolean redis) throws Exception {
        try (RateLimiter decides = Backends.limiter(redis);
                CallSite site = CallSite.start(decides, """
                        limiter.rules.messages.path = /t.Votes/Sum, /t.Votes/Chat
                        limiter.rules.messages.methods = ext:MESSAGE
                        limiter.rules.messages.limits = 200/1s token-bucket burst 1
                        limiter.rules.messages.wait = 20s
                        """, (message, to) -> message)) {
            List<String> sent =
                    IntStream.range(0, 60).mapToObj(Integer::toString).toList();
            Ended ended = site.chat().say(sent.toArray(String[]::new)).over().end();
            assertEquals(Code.OK, ended.code());
            assertEquals(sent, ended.messages());
            assertEquals(
                    List.of("60"),
                    site.sum().say(sent.toArray(String[]::new)).over().end().messages());
        }
    }
}
