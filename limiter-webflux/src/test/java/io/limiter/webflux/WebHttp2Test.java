package io.limiter.webflux;

import io.limiter.kit.door.Door;
import io.limiter.kit.door.Http2Test;
import java.util.stream.Stream;

/** The attack by HTTP/2 on WebFlux. */
class WebHttp2Test extends Http2Test {
    static Stream<Door> secureDoors() {
        return Stream.of(WebSite.SECURE_NETTY);
    }
}
