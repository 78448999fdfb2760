package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.limiter.grpc.CallSite.Ended;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a client gets: status, trailers, and details that the classes of Google read. */
class DeniedCallTest extends HandOver {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    private static final String RULE = "limiter.rules.vote.path = /t.Votes/*\nlimiter.rules.vote.limits = ";

    private CallSite start(String limits) throws Exception {
        return start(RULE + limits + "\n", builder -> builder);
    }

    @Test
    void theAnswerHasTheQuotaAndWhenToTryAgain() throws Exception {
        start("2/10s fixed, 9/1h fixed");
        timer.time.advance(Duration.ofMillis(700));
        Ended first = site.vote("a").end();
        assertEquals(List.of("a"), first.messages());
        assertEquals("\"vote-10s\";r=1;t=10, \"vote-1h\";r=8;t=3600", first.trailer("RateLimit"));
        assertEquals("\"vote-10s\";q=2;w=10, \"vote-1h\";q=9;w=3600", first.trailer("RateLimit-Policy"));
        assertNull(first.trailer("grpc-retry-pushback-ms"));
        site.vote("b").end();
        timer.time.advance(Duration.ofNanos(1_234_567_000));
        Ended denied = site.vote("c").end();
        assertEquals(Code.RESOURCE_EXHAUSTED, denied.code());
        assertEquals(
                "Too many requests. Try again in 9 seconds.", denied.status().getDescription());
        assertEquals("\"vote-10s\";r=0;t=9, \"vote-1h\";r=7", denied.trailer("RateLimit"));
        assertEquals("9", denied.trailer("Retry-After"));
        com.google.rpc.Status status =
                com.google.rpc.Status.parseFrom(denied.trailers().get(DETAILS));
        assertEquals(Code.RESOURCE_EXHAUSTED.value(), status.getCode());
        assertEquals(denied.status().getDescription(), status.getMessage());
        RetryInfo info = status.getDetails(0).unpack(RetryInfo.class);
        long micros = info.getRetryDelay().getSeconds() * 1_000_000
                + info.getRetryDelay().getNanos() / 1_000;
        assertTrue(micros > 7_000_000 && micros <= 9_000_000, "the exact time: " + micros);
        assertEquals(Long.toString((micros + 999) / 1_000), denied.trailer("grpc-retry-pushback-ms"));
        timer.time.advance(Duration.ofNanos(micros * 1_000));
        assertEquals(Code.OK, site.code());
    }

    @Test
    void aClientThatCantWaitSoLongIsNotToldToTryAgain() throws Exception {
        start("1/1h fixed").vote("a").end();
        Ended denied = site.voteWithin(60_000).end();
        assertEquals(Code.RESOURCE_EXHAUSTED, denied.code());
        assertEquals("-1", denied.trailer("grpc-retry-pushback-ms"));
        assertEquals("3600", denied.trailer("Retry-After"));
    }

    @Test
    void aCallThatIsNeverAllowedHasNoTimeToTryAgain() throws Exception {
        Ended denied = start("0/1h fixed").vote("a").end();
        assertEquals(Code.RESOURCE_EXHAUSTED, denied.code());
        assertEquals("-1", denied.trailer("grpc-retry-pushback-ms"));
        assertNull(denied.trailer("Retry-After"));
        assertNull(denied.trailers().get(DETAILS));
    }

    @Test
    void olderFieldsAndNone() throws Exception {
        start("1/10s fixed\nlimiter.http.headers = x-ratelimit");
        Ended old = site.vote("a").end();
        assertEquals("0", old.trailer("X-RateLimit-Remaining"));
        stopSite();
        start("1/10s fixed\nlimiter.http.headers = none");
        Ended none = site.vote("a", "Test-Address: 192.0.2.1").end();
        assertNull(none.trailer("RateLimit"));
    }

    @Test
    void aHandlerAnswersAndOneThatFailsDoesNotAdmit() throws Exception {
        GrpcRejectionHandler handler = (denial, standard, trailers) -> {
            trailers.put(GrpcRequest.key("limits"), String.join(",", denial.violatedPolicies()));
            return standard.withDescription("slower");
        };
        String rule = RULE + "0/1h fixed\n";
        start(rule, builder -> builder.rejectionHandler(handler));
        Ended denied = site.vote("a").end();
        assertEquals("slower", denied.status().getDescription());
        assertEquals("vote", denied.trailer("limits"));
        stopSite();
        start(
                rule,
                builder -> builder.rejectionHandler((d, s, own) -> {
                    own.put(GrpcRequest.key("half"), "done");
                    own.discardAll(GrpcRequest.key("RateLimit"));
                    throw new IllegalStateException("meant");
                }));
        try (LogLines log = new LogLines()) {
            Ended standard = site.vote("a").end();
            assertEquals(Code.RESOURCE_EXHAUSTED, standard.code());
            assertNull(standard.trailer("half"));
            assertEquals("\"vote\";r=0", standard.trailer("RateLimit"));
            assertNull(standard.trailer("Cache-Control"));
            assertEquals(1, log.of(Level.WARN, "RL-322").size());
        }
    }

    @Test
    void trailersThatCallsShareStayAsTheyAre() throws Exception {
        Metadata shared = new Metadata();
        shared.put(GrpcRequest.key("reason"), "meant");
        StatusRuntimeException answer = Status.NOT_FOUND.asRuntimeException(shared);
        site = CallSite.start(decides, RULE + "9/1h fixed\n", (message, to) -> {
            to.onError(answer);
            return null;
        });
        Ended ended = site.vote("a").end();
        assertEquals(Code.NOT_FOUND, ended.code());
        assertEquals("meant", ended.trailer("reason"));
        assertEquals("\"vote\";r=8;t=3600", ended.trailer("RateLimit"));
        assertEquals(Set.of("reason"), shared.keys());
    }
}
