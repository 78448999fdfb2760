package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.limiter.example.fair.FairSite.Answer;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisServer;

/** A real Redis that is stopped where it is: visitors get a short answer, the log one line, and afterwards everything works. */
@Tag("long")
class RedisStalledTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String PLAIN = "Redis does not answer. Try again in a moment.";
    private static final String ME = "{\"visitor\":\"me\",\"voter\":\"me\",\"member\":\"me\",\"candidate\":\"Ada\","
            + "\"page\":\"results\",\"article\":\"tea-a-history\",\"title\":\"Open\",\"code\":\"ABC\",\"count\":1,"
            + "\"id\":\"seat-1\",\"days\":0,\"region\":\"home\",\"visitors\":1,\"calls\":1}";

    /** Every button, but for those that start workers or servers of their own. */
    private static final List<String> BUTTONS = List.of(
            "tasks/evening",
            "tasks/many",
            "tasks/reserve",
            "tasks/pay",
            "tasks/clear",
            "visitors/visit",
            "visitors/rush",
            "attendance/sign-in",
            "attendance/travel",
            "codes/issue",
            "codes/vote",
            "codes/guess",
            "codes/clear",
            "points/read",
            "points/tomorrow",
            "leaderboard/vote",
            "leaderboard/rush",
            "leaderboard/clear",
            "sale/buy",
            "sale/pay",
            "sale/reset",
            "orders/place",
            "orders/poison",
            "orders/clear",
            "notices/arrive",
            "notices/global",
            "notices/personal",
            "notices/deliver",
            "notices/rush",
            "lock/kill");

    private static final List<String> VIEWS = List.of(
            "redis/limits",
            "redis/sale",
            "tasks",
            "visitors",
            "attendance?member=me&days=0",
            "codes",
            "places?region=home&east=0&north=0",
            "points?visitor=me",
            "leaderboard?voter=me",
            "sale?visitor=me",
            "orders",
            "notices?voter=me",
            "lock");

    private final List<ILoggingEvent> log = new CopyOnWriteArrayList<>();

    @Test
    void visitorsGetAShortAnswerAndTheLogOneLine() {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        long pid = RedisServers.pid(port);
        try (FairSite site = FairSite.start(
                "redis=redis://127.0.0.1:" + port,
                "limiter.rules.changes.limits=100000/1s token-bucket",
                "limiter.rules.reads.limits=100000/1s token-bucket")) {
            assertEquals(Map.of(), wrong(site, 1, 200, ""));

            AppenderBase<ILoggingEvent> appender = listen();
            RedisServers.signal("STOP", pid);
            try {
                assertEquals(Map.of(), wrong(site, VIEWS.size() + BUTTONS.size(), 503, PLAIN));
                assertEquals(200, site.get("/").status());
                // The limiter decides in this JVM meanwhile.
                assertEquals(200, site.get("/api/limits?visitor=me").status());
                assertEquals(200, site.post("/api/limits/rush", ME).status());
                Await.until(
                        LONG,
                        "the site has logged it",
                        () -> !lines("io.limiter.example").isEmpty());
            } finally {
                RedisServers.signal("CONT", pid);
            }
            Await.until(
                    LONG,
                    "it works again",
                    () -> VIEWS.stream()
                            .allMatch(view -> site.get("/api/" + view).status() == 200));
            Await.until(
                    LONG, "that is logged", () -> lines("io.limiter.example").size() == 2);
            assertEquals(Map.of(), wrong(site, 1, 200, ""));
            root().detachAppender(appender);

            assertEquals(
                    List.of(
                            "Redis at redis://127.0.0.1:" + port
                                    + " does not answer (X); visitors get 503 until it does",
                            "Redis at redis://127.0.0.1:" + port + " answers again"),
                    lines("io.limiter.example").stream()
                            .map(line -> line.replaceAll("\\(\\w+\\)", "(X)"))
                            .toList());
            log.forEach(event -> assertFalse(
                    event.getThrowableProxy() != null && event.getLevel().isGreaterOrEqual(Level.WARN),
                    () -> "a trace in the log: " + event.getLoggerName() + ": " + event));
            assertEquals(List.of(), lines("org.redisson"));
        } finally {
            RedisServers.stop(server);
        }
    }

    /** What each view and each button answers, where it is not this, if this number of visitors tries them at once. */
    private static Map<String, String> wrong(FairSite site, int visitorCount, int status, String detail) {
        ExecutorService visitors = Executors.newFixedThreadPool(visitorCount);
        try {
            Map<String, CompletableFuture<Answer>> asked = new LinkedHashMap<>();
            for (String view : VIEWS) {
                asked.put(view, CompletableFuture.supplyAsync(() -> site.get("/api/" + view), visitors));
            }
            for (String button : BUTTONS) {
                asked.put(button, CompletableFuture.supplyAsync(() -> site.post("/api/" + button, ME), visitors));
            }
            Map<String, String> wrong = new LinkedHashMap<>();
            asked.forEach((path, answer) -> {
                Answer got = answer.join();
                boolean right = got.status() == status
                        && (detail.isEmpty()
                                || got.json().at("/detail").asString().equals(detail));
                if (!right) {
                    wrong.put(path, got.status() + " " + got.body());
                }
            });
            return wrong;
        } finally {
            visitors.shutdownNow();
        }
    }

    private AppenderBase<ILoggingEvent> listen() {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                log.add(event);
            }
        };
        appender.start();
        root().addAppender(appender);
        return appender;
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    private List<String> lines(String logger) {
        List<String> lines = new ArrayList<>();
        for (ILoggingEvent event : log) {
            if (event.getLoggerName().startsWith(logger) && event.getLevel().isGreaterOrEqual(Level.INFO)) {
                lines.add(event.getFormattedMessage());
            }
        }
        return lines;
    }
}
