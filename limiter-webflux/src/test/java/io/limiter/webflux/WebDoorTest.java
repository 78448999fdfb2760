package io.limiter.webflux;

import io.limiter.kit.Repeats;
import io.limiter.kit.door.Door;
import io.limiter.kit.door.DoorTest;
import java.util.stream.Stream;

/** What must be the same at each door, in WebFlux: on Netty, and in a long run on Tomcat. */
class WebDoorTest extends DoorTest {
    static Stream<Door> doors() {
        return Stream.<Door>of(WebSite.NETTY, WebSite.TOMCAT).limit(Repeats.of(1, 2));
    }
}
