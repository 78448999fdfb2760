package io.limiter.webflux;

import io.limiter.kit.door.Door;
import io.limiter.kit.door.DoorTest;
import java.util.stream.Stream;

/** What must be the same at each door, in WebFlux. */
class WebDoorTest extends DoorTest {
    static Stream<Door> doors() {
        return Stream.of(WebSite.NETTY, WebSite.TOMCAT);
    }
}
