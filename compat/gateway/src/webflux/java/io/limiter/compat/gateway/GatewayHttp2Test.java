package io.limiter.compat.gateway;

import io.limiter.kit.door.Door;
import io.limiter.kit.door.Http2Test;
import io.limiter.kit.door.Tls;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The attack by HTTP/2 on a gateway, which asks its service by HTTP/1.1. */
class GatewayHttp2Test extends Http2Test {
    static Stream<Door> secureDoors() {
        return Stream.of(GatewayDoorTest::start);
    }

    @BeforeAll
    static void startGateway() {
        GatewayDoorTest.startGateway(
                "server.http2.enabled=true",
                "server.ssl.key-store=" + Tls.store(),
                "server.ssl.key-store-type=PKCS12",
                "server.ssl.key-store-password=" + Tls.PASSWORD);
    }

    @AfterAll
    static void stopGateway() {
        GatewayDoorTest.stopGateway();
    }
}
