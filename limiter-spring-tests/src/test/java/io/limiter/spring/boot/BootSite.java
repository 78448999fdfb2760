package io.limiter.spring.boot;

import io.limiter.spring.RateLimited;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A Spring Boot application on a real Tomcat, configured by an application.yml. */
public final class BootSite implements AutoCloseable {
    /** Kept, for what nobody keeps is made anew. */
    private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

    static {
        TOMCAT_LOG.setLevel(Level.SEVERE);
    }

    private final ConfigurableApplicationContext context;
    private final HttpClient client =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    private BootSite(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** With these settings over the file, as on the command line. */
    public static BootSite start(Path folder, String yaml, Class<?> configuration, String... arguments) {
        return new BootSite(application(configuration).run(arguments(folder, yaml, arguments)));
    }

    /** Without a file, with these properties. */
    public static BootSite start(Class<?> configuration, String... properties) {
        String[] arguments = Stream.of(properties).map(one -> "--" + one).toArray(String[]::new);
        return new BootSite(application(configuration).run(arguments));
    }

    /** A controller with a limited method, and a path for a rule. */
    @RestController
    public static class Pages {
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

    /**
     * Spring Security, which lets everybody in. Without its own fields: of an asynchronous response two threads may write them at
     * once, which Tomcat does not survive.
     */
    @Configuration(proxyBeanMethods = false)
    public static class Open {
        @Bean
        SecurityFilterChain everybodyMayDoEverything(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .headers(headers -> headers.disable())
                    .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .build();
        }
    }

    /** As started by a main method, without banner and start-up lines. */
    static SpringApplicationBuilder application(Class<?> configuration) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.SERVLET)
                .logStartupInfo(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "logging.level.root=warn");
    }

    static String[] arguments(Path folder, String yaml, String... more) {
        Path file = folder.resolve("application.yml");
        try {
            Files.writeString(file, yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> all = new ArrayList<>(List.of(more));
        all.add("--spring.config.location=file:" + folder + "/");
        return all.toArray(String[]::new);
    }

    /** The same application, called by a client that has no cookies yet. Whoever started the application closes it. */
    BootSite newVisitor() {
        return new BootSite(context);
    }

    public ConfigurableApplicationContext context() {
        return context;
    }

    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    public HttpResponse<String> call(String method, String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).method(method, BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    HttpResponse<String> form(String path, String form) {
        return post(path, "application/x-www-form-urlencoded", form);
    }

    public HttpResponse<String> post(String path, String json) {
        return post(path, "application/json", json);
    }

    /** Of the endpoint, what a key has used of a policy. */
    public HttpResponse<String> key(String method, String policy, String key) {
        return call(
                method, "/actuator/ratelimits/" + policy + "?key=" + URLEncoder.encode(key, StandardCharsets.UTF_8));
    }

    private HttpResponse<String> post(String path, String type, String body) {
        return send(
                HttpRequest.newBuilder(uri(path)).header("Content-Type", type).POST(BodyPublishers.ofString(body)));
    }

    /** The statuses of this number of calls. */
    public List<Integer> statuses(int calls, String method, String path, String... headers) {
        return IntStream.range(0, calls)
                .mapToObj(i -> call(method, path, headers).statusCode())
                .toList();
    }

    @Override
    public void close() {
        context.close();
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
