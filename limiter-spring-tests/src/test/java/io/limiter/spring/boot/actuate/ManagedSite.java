package io.limiter.spring.boot.actuate;

import com.jayway.jsonpath.JsonPath;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.BootSite;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A web application with an actuator on a real Tomcat, open to everybody. */
final class ManagedSite implements AutoCloseable {
    private final BootSite site;

    private ManagedSite(BootSite site) {
        this.site = site;
    }

    /** With these properties, as on the command line. */
    static ManagedSite start(Class<?> configuration, String... properties) {
        return new ManagedSite(BootSite.start(
                configuration, Stream.of(properties).map(one -> "--" + one).toArray(String[]::new)));
    }

    /** A site with some limits, in Redis or in this JVM as the properties say. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({BootSite.Pages.class, BootSite.Open.class, Jobs.class})
    static class Site {}

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

    static class Jobs {
        @RateLimited(limits = "2/1h", key = "#account", permits = "#size", condition = "#size > 0")
        public void send(String account, int size) {}

        @RateLimited(limits = "1/1h token-bucket burst 5", name = "watched", key = "global", shadow = true)
        public void watch() {}
    }

    <T> T bean(Class<T> type) {
        return context().getBean(type);
    }

    ConfigurableApplicationContext context() {
        return site.context();
    }

    HttpResponse<String> call(String method, String path, String... headers) {
        return site.call(method, path, headers);
    }

    HttpResponse<String> post(String path, String json) {
        return site.post(path, "application/json", json);
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
        site.close();
    }
}
