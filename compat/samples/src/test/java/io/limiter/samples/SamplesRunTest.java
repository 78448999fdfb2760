package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.AddressWebFilter;
import com.example.ApiKeyGatewayFilter;
import com.example.BusiestKeys;
import com.example.Exports;
import com.example.LimitingInterceptor;
import com.example.LimitingRequestFilter;
import com.example.Logins;
import com.example.ModelCalls;
import com.example.MovedFromBucket4j;
import com.example.MovedFromResilience4j;
import com.example.NewLimits;
import com.example.PrintQueue;
import com.example.Reports;
import com.example.WebFluxVotes;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.config.EnableRateLimiting;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.glassfish.jersey.internal.MapPropertiesDelegate;
import org.glassfish.jersey.server.ApplicationHandler;
import org.glassfish.jersey.server.ContainerRequest;
import org.glassfish.jersey.server.ContainerResponse;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.core.publisher.Mono;

/** The samples of "How do I ...?" do what their pages say, with the configurations of the pages. */
class SamplesRunTest {
    private final ManualTime time = new ManualTime();

    @TempDir
    java.nio.file.Path folder;

    /** The limiter of a page's configuration, with the clock of the test. */
    private Limiter limiter(String configuration) throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text("page", new StringReader(configuration))
                .build();
        return Limiter.of(
                config,
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build()));
    }

    /** The block of properties of a page that has this text in it. */
    private static String properties(String page, String having) {
        return Pages.blocks(Pages.text("how-do-i/" + page), "properties").stream()
                .filter(block -> block.contains(having))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void waiting() throws Exception {
        LimiterConfig config = LimiterConfig.builder()
                .text("page", new StringReader(properties("use-java", ".print.")))
                .build();
        AtomicInteger printed = new AtomicInteger();
        try (Limiter limiter = Limiter.start(config)) {
            PrintQueue queue = new PrintQueue(limiter);
            // Ten a second, one at a time: the second of each waits about 100 ms.
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertTrue(queue.printLater("bob", printed::incrementAndGet).get());
            assertTrue(queue.printLater("bob", printed::incrementAndGet).get());
        }
        assertEquals(4, printed.get());
        try (Limiter none = limiter("limiter.policies.print.limits = 1/1h")) {
            PrintQueue queue = new PrintQueue(none);
            assertTrue(queue.print("ann", printed::incrementAndGet));
            assertFalse(queue.print("ann", printed::incrementAndGet), "nothing is due within two seconds");
        }
    }

    @Test
    void whatACallHasCost() throws IOException {
        try (Limiter limiter = limiter(properties("use-java", ".tokens."))) {
            ModelCalls calls = new ModelCalls(limiter);
            String prompt = "x".repeat(180_000);
            assertTrue(calls.ask("ann", prompt, text -> 90_000), "an estimate of 60 000");
            assertFalse(calls.ask("ann", prompt, text -> 0), "10 000 are left");
            assertTrue(calls.ask("ann", "short", text -> 0));
            assertTrue(calls.ask("bob", prompt, text -> 1_000));
            assertTrue(calls.ask("bob", prompt, text -> 1_000), "59 000 came back");
        }
    }

    @Test
    void cost() throws IOException {
        try (Limiter limiter = limiter(properties("use-java", ".export."))) {
            Exports exports = new Exports(limiter);
            assertTrue(exports.export("ann", 9_500), "10 of 20 permits");
            assertTrue(exports.export("ann", 8_500), "9 of 10");
            assertFalse(exports.export("ann", 1_000), "2 of 1");
            assertTrue(exports.export("ann", 999), "1 of 1");
        }
    }

    @Test
    void failedLogins() throws IOException {
        try (Limiter limiter = limiter(properties("use-java", ".login-account."))) {
            Logins logins = new Logins(limiter);
            for (int i = 0; i < 100; i++) {
                assertTrue(logins.logIn("192.0.2.1", "ann", () -> true));
            }
            AtomicInteger tried = new AtomicInteger();
            for (int i = 0; i < 10; i++) {
                assertFalse(logins.logIn("192.0.2.9", "ann", () -> tried.incrementAndGet() < 0));
            }
            assertEquals(5, tried.get(), "guesses that reached the password check");
            assertFalse(logins.logIn("192.0.2.1", "ann", () -> true), "the account is denied for ten minutes");
            assertTrue(logins.logIn("192.0.2.1", "bob", () -> true));
            time.advance(Duration.ofMinutes(10));
            assertTrue(logins.logIn("192.0.2.1", "ann", () -> true));
        }
    }

    @Test
    void plansDaysAndBlocks() {
        RateLimiter limiter =
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        Reports reports = new Reports(limiter);
        assertEquals(
                2,
                IntStream.range(0, 5).filter(i -> reports.report("ann", "free")).count());
        assertEquals(
                20,
                IntStream.range(0, 25)
                        .filter(i -> reports.report("bob", "gold"))
                        .count());
        IntStream.range(0, 10).forEach(i -> reports.report("ann", "free"));
        time.advance(Duration.ofMinutes(16));
        assertFalse(reports.report("ann", "free"), "the day is not over");
        time.advance(Duration.ofDays(1));
        assertTrue(reports.report("ann", "free"), "a new day in Rome");
        IntStream.range(0, 20).forEach(i -> reports.report("eve", "free"));
        reports.liftBlock("eve", "free");
        assertTrue(reports.report("eve", "free"));
    }

    @Test
    void whoIsLimited() throws IOException {
        try (Limiter limiter = limiter("limiter.policies.vote.limits = 3/10s")) {
            BusiestKeys busiest = new BusiestKeys(limiter);
            assertEquals(3, busiest.left("vote", "192.0.2.1"));
            for (int i = 0; i < 5; i++) {
                limiter.tryAcquire("vote", io.limiter.PartitionKey.of("192.0.2.1"), 1);
            }
            assertEquals(0, busiest.left("vote", "192.0.2.1"));
            assertEquals("192.0.2.1", busiest.busiest().get(0).key().canonical());
            assertEquals(2, busiest.busiest().get(0).denied());
        }
    }

    @Test
    void newLimits() throws IOException {
        try (Limiter limiter = limiter("limiter.policies.vote.limits = 1/10s")) {
            java.nio.file.Path file = folder.resolve("limiter.properties");
            Files.writeString(file, "limiter.policies.vote.limits = 3/10s");
            new NewLimits(limiter).read(file);
            assertEquals(3, limiter.policy("vote").limits().get(0).permits());
        }
    }

    @Test
    void moved() throws Exception {
        MovedFromBucket4j moved = new MovedFromBucket4j();
        assertEquals(20, IntStream.range(0, 25).filter(i -> moved.call("ann")).count());
        try (AnnotationConfigApplicationContext context = spring(MovedFromResilience4j.class)) {
            MovedFromResilience4j bean = context.getBean(MovedFromResilience4j.class);
            List<String> answers =
                    IntStream.range(0, 4).mapToObj(i -> bean.vote()).toList();
            assertEquals(List.of("thank you", "thank you", "thank you", "later"), answers);
        }
    }

    @Configuration
    @EnableRateLimiting
    static class Spring {}

    private AnnotationConfigApplicationContext spring(Class<?> bean) throws IOException {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        Limiter limiter = limiter("limiter.policies.vote.limits = 3/10s");
        context.registerBean(Limiter.class, () -> limiter);
        context.register(Spring.class, bean);
        context.refresh();
        return context;
    }

    @Test
    void webFluxByAnnotation() throws IOException {
        try (AnnotationConfigApplicationContext context = spring(WebFluxVotes.class)) {
            WebFluxVotes votes = context.getBean(WebFluxVotes.class);
            for (int i = 0; i < 3; i++) {
                assertEquals("thank you", votes.vote("k1").block());
            }
            assertThrows(
                    RateLimitExceededException.class, () -> votes.vote("k1").block());
            assertEquals("thank you", votes.vote("k2").block());
        }
    }

    @Test
    void webFluxByFilter() throws IOException {
        try (Limiter limiter = limiter(properties("use-other-frameworks", ".api."))) {
            AddressWebFilter filter = new AddressWebFilter(limiter);
            List<Integer> statuses = new ArrayList<>();
            MockServerWebExchange exchange = null;
            for (int i = 0; i < 4; i++) {
                exchange = exchange("192.0.2.1", null);
                filter.filter(exchange, reached -> Mono.empty()).block();
                statuses.add(status(exchange));
            }
            assertEquals(List.of(200, 200, 200, 429), statuses);
            assertEquals("10", exchange.getResponse().getHeaders().getFirst("Retry-After"));
            assertTrue(exchange.getResponse().getBodyAsString().block().contains("quota-exceeded"));
        }
    }

    @Test
    void gateway() throws IOException {
        try (Limiter limiter = limiter(properties("use-other-frameworks", ".api."))) {
            ApiKeyGatewayFilter filter = new ApiKeyGatewayFilter(limiter);
            List<Integer> statuses = new ArrayList<>();
            for (String apiKey : List.of("k1", "k1", "k1", "k1", "k2")) {
                MockServerWebExchange exchange = exchange("192.0.2.1", apiKey);
                filter.filter(exchange, routed -> Mono.empty()).block();
                statuses.add(status(exchange));
            }
            assertEquals(List.of(200, 200, 200, 429, 200), statuses);
        }
    }

    private static MockServerWebExchange exchange(String address, String apiKey) {
        MockServerHttpRequest.BaseBuilder<?> request =
                MockServerHttpRequest.get("/").remoteAddress(new InetSocketAddress(address, 1));
        if (apiKey != null) {
            request.header("X-Api-Key", apiKey);
        }
        return MockServerWebExchange.from(request);
    }

    private static int status(MockServerWebExchange exchange) {
        return exchange.getResponse().getStatusCode() == null
                ? 200
                : exchange.getResponse().getStatusCode().value();
    }

    @Test
    void grpc() throws IOException {
        MethodDescriptor<String, String> vote = MethodDescriptor.newBuilder(new TextMarshaller(), new TextMarshaller())
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("Votes/vote")
                .build();
        try (Limiter limiter = limiter(properties("use-other-frameworks", ".rpc."))) {
            Server server = InProcessServerBuilder.forName("votes")
                    .addService(ServerServiceDefinition.builder("Votes")
                            .addMethod(vote, ServerCalls.asyncUnaryCall((choice, answer) -> {
                                answer.onNext("thank you");
                                answer.onCompleted();
                            }))
                            .build())
                    .intercept(new LimitingInterceptor(limiter))
                    .build()
                    .start();
            ManagedChannel channel = InProcessChannelBuilder.forName("votes").build();
            try {
                for (int i = 0; i < 3; i++) {
                    assertEquals("thank you", ClientCalls.blockingUnaryCall(channel, vote, CallOptions.DEFAULT, "tea"));
                }
                StatusRuntimeException denied = assertThrows(
                        StatusRuntimeException.class,
                        () -> ClientCalls.blockingUnaryCall(channel, vote, CallOptions.DEFAULT, "tea"));
                assertEquals(Status.Code.RESOURCE_EXHAUSTED, denied.getStatus().getCode());
                String pushback = denied.getTrailers()
                        .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER));
                assertEquals("10001", pushback);
            } finally {
                channel.shutdownNow();
                server.shutdownNow();
                Await.until(Duration.ofSeconds(20), "the server has ended", server::isTerminated);
            }
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
        try (Limiter limiter = limiter(properties("use-other-frameworks", ".api."))) {
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
