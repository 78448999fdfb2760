package io.limiter.spring.boot.actuate;

import com.jayway.jsonpath.JsonPath;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.RateLimited;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A web application with an actuator on a real Tomcat, open to everybody. */
final class ManagedSite implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final ConfigurableApplicationContext context;

    private ManagedSite(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** With these properties, as on the command line. */
    static ManagedSite start(Class<?> configuration, String... properties) {
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.main.banner-mode=off",
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--logging.level.root=warn"));
        for (String property : properties) {
            arguments.add("--" + property);
        }
        return new ManagedSite(new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.SERVLET)
                .logStartupInfo(false)
                .run(arguments.toArray(String[]::new)));
    }

    /** A site with some limits, in Redis or in this JVM as the properties say. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Pages.class, Jobs.class})
    static class Site {
        @Bean
        SecurityFilterChain everybodyMayDoEverything(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .build();
        }
    }

    /** The same, at a fixed time. */
    @Configuration(proxyBeanMethods = false)
    @Import(Site.class)
    static class StillSite {
        @Bean
        ManualTime time() {
            return new ManualTime();
        }

        @Bean
        RateLimiter rateLimiter(ManualTime time) {
            return RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
        }
    }

    @RestController
    static class Pages {
        @PostMapping("/votes")
        @RateLimited("vote")
        public String vote() {
            return "thank you";
        }

        @GetMapping("/pages/one")
        public String page() {
            return "one";
        }
    }

    static class Jobs {
        @RateLimited(limits = "2/1h", key = "#account", permits = "#size", condition = "#size > 0")
        public void send(String account, int size) {}

        @RateLimited(limits = "1/1h token-bucket burst 5", name = "watched", key = "global", shadow = true)
        public void watch() {}
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    HttpResponse<String> call(String method, String path, String... headers) {
        return send(method, path, BodyPublishers.noBody(), headers);
    }

    HttpResponse<String> post(String path, String json) {
        return send("POST", path, BodyPublishers.ofString(json), "Content-Type", "application/json");
    }

    private HttpResponse<String> send(String method, String path, BodyPublisher body, String... headers) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(
                        "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path))
                .method(method, body);
        HttpRequest request = (headers.length == 0 ? builder : builder.headers(headers)).build();
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Of the endpoint, what a key has used of a policy. */
    HttpResponse<String> key(String method, String policy, String key) {
        return call(
                method, "/actuator/ratelimits/" + policy + "?key=" + URLEncoder.encode(key, StandardCharsets.UTF_8));
    }

    /** What a JSON path finds in a body. */
    static <T> T read(HttpResponse<String> response, String path) {
        try {
            return JsonPath.read(response.body(), path);
        } catch (RuntimeException notThere) {
            throw new AssertionError(path + " in " + response.statusCode() + " " + response.body(), notThere);
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
