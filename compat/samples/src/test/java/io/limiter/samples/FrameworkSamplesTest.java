package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.example.LimitingRequestFilter;
import com.example.WebFluxVotes;
import io.limiter.application.Limiter;
import io.limiter.spring.RateLimitExceededException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.glassfish.jersey.internal.MapPropertiesDelegate;
import org.glassfish.jersey.server.ApplicationHandler;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.ContainerResponse;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** The samples for other frameworks do what their pages say, with the configurations of the pages. */
class FrameworkSamplesTest {
    private final PageLimiters pages = new PageLimiters();

    @Test
    void webFluxByAnnotation() throws IOException {
        try (AnnotationConfigApplicationContext context = pages.spring(WebFluxVotes.class)) {
            WebFluxVotes votes = context.getBean(WebFluxVotes.class);
            for (int i = 0; i < 3; i++) {
                assertEquals("thank you", votes.vote("k1").block());
            }
            assertThrows(
                    RateLimitExceededException.class, () -> votes.vote("k1").block());
            assertEquals("thank you", votes.vote("k2").block());
        }
    }

    /** A resource for the filter to protect. */
    @Path("/votes")
    public static class Votes {
        @GET
        public String votes() {
            return "thank you";
        }
    }

    @Test
    void jaxRs() throws Exception {
        try (Limiter limiter = pages.limiter(PageLimiters.properties("use-other-frameworks", ".api."))) {
            ApplicationHandler application = new ApplicationHandler(
                    new ResourceConfig(Votes.class).register(new LimitingRequestFilter(limiter)));
            List<Integer> statuses = new ArrayList<>();
            for (String apiKey : List.of("k1", "k1", "k1", "k1", "k2")) {
                statuses.add(jaxRs(application, apiKey).getStatus());
            }
            assertEquals(List.of(200, 200, 200, 429, 200), statuses);
            ContainerResponse denied = jaxRs(application, "k1");
            assertEquals("10", denied.getHeaderString("Retry-After"));
            assertEquals("application/problem+json", denied.getHeaderString("Content-Type"));
        }
    }

    private static ContainerResponse jaxRs(ApplicationHandler application, String apiKey) throws Exception {
        ContainerRequest request = new ContainerRequest(
                URI.create("http://localhost/"),
                URI.create("http://localhost/votes"),
                "GET",
                null,
                new MapPropertiesDelegate(),
                null);
        request.header("X-Api-Key", apiKey);
        return application.apply(request).get();
    }
}
