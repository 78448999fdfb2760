package io.limiter.example.gateway;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The two services of the shop, each on a free port of its own. They know of no limits. */
final class Services {
    private final DisposableServer catalog = start("catalog");
    private final DisposableServer orders = start("orders");

    /** Answers each request with its name, and what was asked. */
    private static DisposableServer start(String name) {
        return HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle((request, response) ->
                        response.sendString(Mono.just(name + ": " + request.method() + " " + request.uri() + "\n")))
                .bindNow();
    }

    /** Where they are, as properties for the routes. */
    Map<String, Object> addresses() {
        return Map.of("services.catalog", address(catalog), "services.orders", address(orders));
    }

    private static String address(DisposableServer service) {
        return "http://127.0.0.1:" + service.port();
    }

    void stop() {
        catalog.disposeNow();
        orders.disposeNow();
    }
}
