package io.limiter.example.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.door.Client;
import io.limiter.kit.door.Client.Response;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

class ShopGatewayTest {
    private static ConfigurableApplicationContext gateway;

    @BeforeAll
    static void start() {
        gateway = ShopGateway.start("--server.port=0", "--server.address=127.0.0.1");
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    private static Response get(String target, String... headers) {
        int port = gateway.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return Client.send(port, "GET", target, headers).response();
    }

    @Test
    void eachRouteHasItsLimit() {
        for (int i = 0; i < 5; i++) {
            Response tea = get("/catalog/tea");
            assertEquals(200, tea.status());
            assertTrue(tea.body().contains("catalog: GET /catalog/tea"), tea::toString);
        }
        assertEquals(429, get("/catalog/tea").status());
        for (String key : new String[] {"X-Api-Key: one", "X-Api-Key: two"}) {
            assertEquals(200, get("/orders/1", key).status());
            assertEquals(200, get("/orders/1", key).status());
            assertEquals(429, get("/orders/1", key).status());
            assertEquals(200, get("/orders/reports/1", key).status());
        }
        assertEquals(403, get("/orders/reports/1").status());
    }
}
