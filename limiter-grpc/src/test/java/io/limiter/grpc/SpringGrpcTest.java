package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status.Code;
import io.grpc.stub.ServerCalls;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.kit.Facts;
import io.limiter.kit.RedisServers;
import io.limiter.spring.boot.internal.RequestExplainer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** A Spring Boot application with Spring gRPC, and nothing of the limiter but its jar and properties. */
class SpringGrpcTest {
    static {
        // It would replace what reads the log.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    }

    private static final Set<String> SEEN = new CopyOnWriteArraySet<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Site {
        @Bean
        BindableService votes() {
            return () -> ServerServiceDefinition.builder("t.Votes")
                    .addMethod(
                            CallSite.method("t.Votes/Vote", MethodType.UNARY),
                            ServerCalls.asyncUnaryCall((message, observer) -> {
                                var login = SecurityContextHolder.getContext().getAuthentication();
                                if (message.equals("wrong")) {
                                    throw new IllegalArgumentException("meant");
                                }
                                SEEN.add(login == null ? "nobody" : login.getName());
                                observer.onNext(message);
                                observer.onCompleted();
                            }))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Secured extends Site {
        @Bean
        @GlobalServerInterceptor
        AuthenticationProcessInterceptor security(GrpcSecurity grpc) throws Exception {
            return grpc.httpBasic(Customizer.withDefaults())
                    .authorizeRequests(all -> all.allRequests().permitAll())
                    .build();
        }

        @Bean
        GrpcExceptionHandler errors() {
            return failed ->
                    failed instanceof IllegalArgumentException ? io.grpc.Status.INVALID_ARGUMENT.asException() : null;
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(user("ann", "USER"), user("bob", "USER"), user("root", "ADMIN"));
        }

        private static org.springframework.security.core.userdetails.UserDetails user(String name, String role) {
            return User.withUsername(name).password("{noop}p").roles(role).build();
        }
    }

    private record Running(ConfigurableApplicationContext context, ManagedChannel channel) implements AutoCloseable {
        static Running start(Class<?> site, String... properties) {
            ConfigurableApplicationContext context = new SpringApplicationBuilder(site)
                    .web(WebApplicationType.NONE)
                    .properties(Stream.concat(Stream.of("spring.grpc.server.port=0"), Stream.of(properties))
                            .toArray(String[]::new))
                    .run();
            int port = context.getBean(GrpcServerLifecycle.class).getPort();
            return new Running(context, CallSite.connect(port));
        }

        Code code(String... headers) {
            return codeOf("v", headers);
        }

        Code codeOf(String message, String... headers) {
            return CallSite.unary(channel, "t.Votes/Vote", message, headers).code();
        }

        @Override
        public void close() {
            channel.shutdownNow();
            context.close();
        }
    }

    @Test
    void theRulesLimitAllServices() {
        try (Running site =
                Running.start(Site.class, "limiter.rules.all.path=/t.Votes/*", "limiter.rules.all.limits=2/1h fixed")) {
            assertEquals(Code.OK, site.code());
            assertEquals(Code.OK, site.code());
            assertEquals(Code.RESOURCE_EXHAUSTED, site.code());
            RequestExplainer explainer = site.context.getBean(RequestExplainer.class);
            RequestSample vote = RequestSample.of("POST", "/t.Votes/Vote", "127.0.0.1");
            List<Explanation> explained = List.copyOf(explainer.explain(vote).values());
            assertEquals(429, explained.get(0).status());
            assertEquals(Map.of(), explainer.unusedRules());
        }
    }

    private static String basic(String user) {
        return "Authorization: Basic "
                + Base64.getEncoder()
                        .encodeToString((user + ":p").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    /** On Redis, so that each decision comes later, on another thread. */
    @Test
    void failedLoginsCountBeforeSecurityAndUsersAfterIt() {
        SEEN.clear();
        try (Running site = Running.start(
                Secured.class,
                "limiter.redis.address=" + RedisServers.single(),
                "limiter.redis.prefix=spring-grpc",
                "limiter.redis.startup-wait=60s",
                "limiter.redis.deadline=10s",
                "limiter.rules.login.path=/*",
                "limiter.rules.login.limits=9/1h fixed",
                "limiter.rules.user.path=/*",
                "limiter.rules.user.key=user",
                "limiter.rules.user.limits=1/1h fixed",
                "limiter.rules.user.exempt.roles=ADMIN")) {
            assertEquals(Code.OK, site.code(basic("ann")));
            assertEquals(Code.RESOURCE_EXHAUSTED, site.code(basic("ann")));
            assertEquals(Code.OK, site.code(basic("bob")));
            assertEquals(Code.OK, site.code(basic("root")));
            assertEquals(Code.OK, site.code(basic("root")));
            assertEquals(Set.of("ann", "bob", "root"), SEEN);
            assertEquals(Code.INVALID_ARGUMENT, site.codeOf("wrong", basic("root")));
            for (int i = 0; i < 3; i++) {
                assertNotEquals(Code.OK, site.code("Authorization: Basic YW5uOndyb25n"));
            }
            assertEquals(Code.RESOURCE_EXHAUSTED, site.code(basic("root")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Answering extends Site {
        @Bean
        GrpcRejectionHandler handler() {
            return (denial, standard, trailers) -> io.grpc.Status.ABORTED;
        }
    }

    @Test
    void aBeanAnswers() {
        try (Running site =
                Running.start(Answering.class, "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h fixed")) {
            assertEquals(Code.ABORTED, site.code());
        }
    }

    @Test
    void aRuleThatCallsCantMeetFailsTheStart() {
        Throwable failed = assertThrows(
                Exception.class,
                () -> Running.start(
                        Site.class,
                        "limiter.rules.all.path=/*",
                        "limiter.rules.all.key=user",
                        "limiter.rules.all.limits=1/1h"));
        while (failed.getCause() != null) {
            failed = failed.getCause();
        }
        Facts.told(String.valueOf(failed.getMessage()), "RL-194", "'all'", "user");
    }

    @Test
    void switchedOff() {
        for (String off : new String[] {"limiter.enabled=false", "limiter.filter.enabled=false"}) {
            try (Running site = Running.start(
                    Site.class, off, "limiter.rules.all.path=/*", "limiter.rules.all.limits=0/1h fixed")) {
                assertEquals(Code.OK, site.code());
                assertTrue(site.context
                        .getBeansOfType(RateLimitServerInterceptor.class)
                        .isEmpty());
            }
        }
    }
}
