package io.limiter.servlet;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.kit.door.Door;
import io.limiter.kit.door.DoorTest;
import io.limiter.kit.door.RunningDoor;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What must be the same at each door, in servlet containers. */
class ServletDoorTest extends DoorTest {
    static Stream<Door> doors() {
        return Stream.of(new InContainer(Container.Kind.TOMCAT, false), new InContainer(Container.Kind.JETTY, false));
    }

    record InContainer(Container.Kind site, boolean isSecure) implements Door {
        @Override
        public Running start(Path directory, RateLimiter limiter, String rules, App app) throws Exception {
            RateLimitFilter filter = new RateLimitFilter(Limiter.of(WebServer.config(rules), limiter));
            Container made = site.make(directory)
                    .filter("who", new WebServer.Peer())
                    .filter("limiter", filter)
                    .servlet("/*", (request, response) -> answer(app, request, response));
            Container running = (isSecure ? made.secure() : made).start();
            return new RunningDoor(running.port(), filter::stopHolding, running);
        }

        private static void answer(Door.App app, HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            String info = request.getPathInfo();
            String routed = request.getServletPath() + (info == null ? "" : info);
            Door.Reply reply;
            try {
                reply = app.reply(
                        new Door.Asked(request.getMethod(), routed::equals, request::getHeader, request::getParameter));
            } catch (Exception failed) {
                throw new ServletException(failed);
            }
            if (reply.end == null) {
                write(reply, request, response);
                return;
            }
            AsyncContext async = request.startAsync();
            reply.end.whenComplete((done, failure) -> {
                if (failure == null) {
                    write(reply, request, response);
                } else {
                    response.setStatus(500);
                }
                async.complete();
            });
        }

        private static void write(Door.Reply reply, HttpServletRequest request, HttpServletResponse response) {
            response.setStatus(reply.status);
            reply.fields.forEach(response::setHeader);
            reply.attributes.forEach(request::setAttribute);
        }
    }
}
