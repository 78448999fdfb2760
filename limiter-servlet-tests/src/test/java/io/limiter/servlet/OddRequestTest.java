package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.door.Client;
import io.limiter.servlet.WebServer.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests that no browser sends: they are counted, or refused by the server, and answered. */
class OddRequestTest extends Served {
    @Test
    void noRequestLineGetsAroundARule() {
        String rule = "limiter.rules.r.path = /vote\nlimiter.rules.r.limits = 0/1h";
        server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, rule))
                .servlet("/", (request, response) -> response.sendError(404))
                .servlet("/vote", Answer.text("voted"))
                .start();
        for (String line : """
                GET http://elsewhere.example/vote HTTP/1.1
                GET http://elsewhere.example//x/..//vote;a=b?c=d HTTP/1.1
                get /vote HTTP/1.1
                BREW /vote HTTP/1.1
                GET /vote HTTP/1.0
                GET /vote? HTTP/1.1
                GET /vote/;/ HTTP/1.1
                GET /;/vote HTTP/1.1
                GET /%2e%2E/vote HTTP/1.1
                GET /vote%00 HTTP/1.1
                GET /x%2f..%2fvote HTTP/1.1
                GET /x\\..\\vote HTTP/1.1
                GET /x%5c..%5cvote HTTP/1.1
                GET /%76%6f%74%65#f HTTP/1.1
                GET /vote%E2%82 HTTP/1.1""".split("\n")) {
            int status = new Client(server.port(), List.of(line, "Host: localhost"))
                    .response()
                    .status();
            assertTrue(List.of(400, 404, 429).contains(status), line + " -> " + status);
        }
    }

    @Test
    void oddHeadersAreAnswered() throws Exception {
        String rules = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\n"
                + "limiter.rules.r.key = session + header:H + cookie:c";
        server = Container.Kind.TOMCAT.serve(directory, WebServer.limiter(limiter, rules), Answer.text("ok"));
        for (String header : List.of(
                "Cookie: c",
                "Cookie: =; c=\"; ,,;$Version=1; c=\\",
                "Cookie: c=\u00e9\u0001",
                "H: \u00ff\u0080{}",
                "H:",
                "Cookie: JSESSIONID=../../x; JSESSIONID=",
                "H: " + "x".repeat(70_000))) {
            int status =
                    Client.send(server.port(), "GET", "/", header).response().status();
            assertTrue(List.of(0, 200, 400, 429).contains(status), header + " -> " + status);
        }
    }
}
