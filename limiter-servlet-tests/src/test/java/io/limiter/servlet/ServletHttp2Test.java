package io.limiter.servlet;

import io.limiter.kit.Repeats;
import io.limiter.kit.door.Door;
import io.limiter.kit.door.Http2Test;
import io.limiter.servlet.ServletDoorTest.InContainer;
import java.util.stream.Stream;

/** The attack by HTTP/2 on servlet containers. */
class ServletHttp2Test extends Http2Test {
    static Stream<Door> secureDoors() {
        return Stream.of(Container.Kind.values()).limit(Repeats.of(1, 2)).map(site -> new InContainer(site, true));
    }
}
