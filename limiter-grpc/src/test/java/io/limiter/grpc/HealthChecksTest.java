package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Rules that count the health checks of an application with Spring gRPC, which has that service where grpc-services is. */
class HealthChecksTest {
    static {
        // It would replace what reads the log.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    }

    private static List<String> counted(String path, String... more) {
        String[] properties = Stream.concat(
                        Stream.of(
                                "spring.grpc.server.port=0",
                                "limiter.rules.all.path=" + path,
                                "limiter.rules.all.limits=9/1h"),
                        Stream.of(more))
                .toArray(String[]::new);
        try (LogLines log = new LogLines().ofThreads()) {
            new SpringApplicationBuilder(SpringGrpcTest.Site.class)
                    .web(WebApplicationType.NONE)
                    .properties(properties)
                    .run()
                    .close();
            return log.of(Level.WARN, "RL-329");
        }
    }

    @Test
    void areReported() {
        List<String> told = counted("/*");
        assertEquals(1, told.size(), told::toString);
        Facts.told(told.get(0), "RL-329", "'all'", "limiter.rules.all.except = /grpc.health.v1.Health/*");
    }

    @Test
    void othersAreNot() {
        assertEquals(List.of(), counted("/t.Votes/*"));
        assertEquals(List.of(), counted("/grpc.health.v1.Health/*"), "on purpose");
        assertEquals(List.of(), counted("/*", "limiter.rules.all.except=/grpc.health.v1.Health/*"));
        assertEquals(List.of(), counted("/*", "spring.grpc.server.health.enabled=false"), "no such service");
    }
}
