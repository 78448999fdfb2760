package io.limiter.compat.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Gateway on servlets, behind the servlet filter. */
class ServletGatewayTest {
    static {
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    }

    private static final String ROUTE = "--spring.cloud.gateway.server.webmvc.routes[0].";

    private HttpServer service;
    private ConfigurableApplicationContext context;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway {}

    @BeforeEach
    void start() throws Exception {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            byte[] body = path.getBytes();
            exchange.sendResponseHeaders(path.endsWith("missing") ? 404 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        service.start();
        context = new SpringApplicationBuilder(Gateway.class)
                .registerShutdownHook(false)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.main.banner-mode=off",
                        ROUTE + "id=votes",
                        ROUTE + "uri=http://127.0.0.1:" + service.getAddress().getPort(),
                        ROUTE + "predicates[0]=Path=/votes/**",
                        ROUTE + "filters[0]=StripPrefix=1",
                        "--limiter.rules.all.path=/votes/*",
                        "--limiter.rules.all.limits=3/1h fixed",
                        "--limiter.rules.all.refund-on=404",
                        "--limiter.rules.open.path=/votes/*",
                        "--limiter.rules.open.limits=2 concurrent");
    }

    @AfterEach
    void stop() {
        context.close();
        service.stop(0);
    }

    private Response get(String target) {
        int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return Client.send(port, "GET", target).response();
    }

    @Test
    void theRulesOfTheServletFilterHoldBeforeTheRoutes() {
        for (int i = 0; i < 5; i++) {
            assertEquals(404, get("/votes/missing").status());
        }
        Response first = get("/votes/1");
        assertEquals(200, first.status());
        assertEquals("/1", first.body());
        assertTrue(first.fields().get("ratelimit").contains("\"all\";r=2"), first::toString);
        assertEquals(200, get("/votes/2").status());
        assertEquals(200, get("/votes/3").status());
        Response denied = get("/votes/4");
        assertEquals(429, denied.status());
        assertTrue(denied.body().contains("\"violated-policies\":[\"all\"]"), denied::toString);
        assertTrue(denied.fields().containsKey("retry-after"), denied::toString);
    }
}
