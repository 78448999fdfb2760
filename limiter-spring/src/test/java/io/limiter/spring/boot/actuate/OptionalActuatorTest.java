package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.spring.Without;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Neither the actuator nor Micrometer need be there, and what tests bring never is. */
class OptionalActuatorTest {
    @Test
    void withoutTheActuatorAndWhatTestsBring() throws Exception {
        assertEquals(
                "limited",
                Without.run(
                        List.of(
                                "spring-test",
                                "spring-boot-test",
                                "spring-boot-webmvc-test",
                                "spring-boot-actuator",
                                "spring-boot-health",
                                "spring-boot-micrometer",
                                "micrometer"),
                        WithoutLibraries.class,
                        "org.springframework.boot.actuate.endpoint.annotation.Endpoint",
                        "io.micrometer.core.instrument.MeterRegistry",
                        "org.springframework.test.context.TestContext"));
    }

    @Test
    void withoutMicrometer() throws Exception {
        assertEquals(
                "limited, with endpoint",
                Without.run(
                        List.of("spring-boot-micrometer", "micrometer-core", "micrometer-registry"),
                        WithoutLibraries.class,
                        "io.micrometer.core.instrument.MeterRegistry"));
    }

    /** An application without a group has neither its jar nor its endpoint. */
    @Test
    void withoutControl() throws Exception {
        assertEquals(
                "limited, with endpoint",
                Without.run(List.of("limiter-control"), WithoutLibraries.class, "io.limiter.control.Control"));
    }
}
