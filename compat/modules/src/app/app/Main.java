package app;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Two calls are allowed, a third is not: in code, by the filter in Tomcat, and by the annotation in Spring. */
public final class Main {
    /** An address of Redis, and a folder for Tomcat. */
    public static void main(String[] arguments) throws Exception {
        System.out.println("module " + Limiter.class.getModule().getName());
        try (Limiter limiter = start(arguments[0])) {
            PartitionKey key = PartitionKey.of("ann");
            for (int i = 0; i < 3; i++) {
                var decision = limiter.rateLimiter().tryAcquire(limiter.policy("vote"), key, 1);
                System.out.println("code " + decision.source() + " " + decision.allowed());
            }
            filter(limiter, Path.of(arguments[1]));
        }
        try (var context = new AnnotationConfigApplicationContext(Beans.class)) {
            Votes votes = context.getBean(Votes.class);
            for (int i = 0; i < 3; i++) {
                System.out.println("spring " + vote(votes));
            }
        }
    }

    private static Limiter start(String redis) {
        return Limiter.start(LimiterConfig.builder()
                .properties(
                        "Main",
                        Map.of(
                                "limiter.redis.address", redis,
                                "limiter.redis.prefix", "modules",
                                "limiter.redis.deadline", "10s",
                                "limiter.redis.startup-wait", "1m",
                                "limiter.policies.vote.limits", "2/1h",
                                "limiter.rules.r.path", "/*",
                                "limiter.rules.r.limits", "2/1h"))
                .build());
    }

    private static void filter(Limiter limiter, Path folder) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Context web = tomcat.addContext("", folder.toString());
        FilterDef definition = new FilterDef();
        definition.setFilterName("limits");
        definition.setFilter(RateLimitFilter.builder(limiter).build());
        web.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName("limits");
        map.addURLPattern("/*");
        web.addFilterMap(map);
        Tomcat.addServlet(web, "votes", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                response.setStatus(200);
            }
        });
        web.addServletMappingDecoded("/", "votes");
        tomcat.start();
        try {
            URI uri = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/");
            for (int i = 0; i < 3; i++) {
                HttpResponse<Void> answer = HttpClient.newHttpClient()
                        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding());
                System.out.println("filter " + answer.statusCode());
            }
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    private static String vote(Votes votes) {
        try {
            return votes.vote();
        } catch (RateLimitExceededException denied) {
            return "denied";
        }
    }

    /** A limited bean. */
    public static class Votes {
        @RateLimited(value = "vote", key = "global")
        public String vote() {
            return "voted";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting
    static class Beans {
        @Bean
        Limiter limiter() {
            return Limiter.start(LimiterConfig.builder()
                    .property("Main", 1, "limiter.policies.vote.limits", "2/1h")
                    .build());
        }

        @Bean
        Votes votes() {
            return new Votes();
        }
    }
}
