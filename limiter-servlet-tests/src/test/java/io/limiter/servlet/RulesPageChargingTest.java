package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.ManualTimer;
import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.door.Client;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/rules about cost, outcomes, plans and waiting, as they are written. */
class RulesPageChargingTest {
    private static final Pattern PROPERTIES = Pattern.compile("(?s)```properties\n(.*?)```");

    @TempDir
    Path directory;

    private static String example(String section, int index) throws IOException {
        String page = Pages.text("rules");
        Matcher found = PROPERTIES.matcher(page.substring(page.indexOf("# " + section + "\n")));
        for (int i = 0; i <= index; i++) {
            assertTrue(found.find(), section);
        }
        return found.group(1);
    }

    private List<Integer> statuses(String rules, int calls, String path, String... headers) {
        try (WebServer server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(new ManualTime(), rules))
                .servlet("/", (request, response) -> response.setStatus(Integer.parseInt(request.getParameter("s"))))
                .start()) {
            return server.statuses(calls, path, headers);
        }
    }

    @Test
    void onlyWrongPasswordsCount() throws IOException {
        String rules = example("Counting outcomes", 0).replace("methods = POST", "methods = GET");
        assertEquals(List.of(200, 200, 200, 200, 200, 200), statuses(rules, 6, "/login?s=200"));
        assertEquals(List.of(401, 401, 401, 401, 401, 429), statuses(rules, 6, "/login?s=401"));
    }

    @Test
    void notModifiedIsGivenBack() throws IOException {
        String rules = example("Counting outcomes", 1).replace("100/", "1/");
        assertEquals(List.of(304, 304), statuses(rules, 2, "/files/a?s=304"));
        assertEquals(List.of(200, 429), statuses(rules, 2, "/files/a?s=200"));
    }

    @Test
    void anExportCostsFive() throws IOException {
        assertEquals(List.of(200, 200, 200, 200, 429), statuses(example("Cost", 0), 5, "/export?s=200"));
    }

    @Test
    void aBatchCostsItsSize() throws IOException {
        String rules = example("Cost", 1).replace("1000/", "100/");
        assertEquals(List.of(200, 200, 429), statuses(rules, 3, "/batch?s=200", "X-Batch-Size", "50"));
        assertEquals(List.of(200, 429), statuses(rules, 2, "/batch?s=200", "X-Batch-Size", "many"));
    }

    @Test
    void callersHaveTheLimitsOfTheirPlans() throws IOException {
        String rules = example("Plans", 0).replace("100/", "1/").replace("1000/", "2/");
        assertEquals(List.of(200, 200, 429), statuses(rules, 3, "/api/a?s=200", "X-Plan", "gold"));
        assertEquals(List.of(200, 429), statuses(rules, 2, "/api/a?s=200"));
    }

    @Test
    void fiveOfTenWait() throws IOException {
        ManualTimer timer = new ManualTimer();
        RateLimiter limiter = timer.limiter();
        try (WebServer server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, example("Waiting", 0)))
                .servlet("/", (request, response) -> response.setStatus(200))
                .start()) {
            List<Client> clients = Stream.generate(() -> Client.send(server.port(), "GET", "/search"))
                    .limit(10)
                    .toList();
            Await.until(
                    "five wait, and four are denied",
                    () -> limiter.monitor().waiting() == 5
                            && Stream.of(Decision.Source.values())
                                            .mapToLong(
                                                    source -> limiter.monitor().denied("search", source))
                                            .sum()
                                    == 4);
            timer.advance(500_000);
            assertEquals(
                    List.of(200, 200, 200, 200, 200, 200, 429, 429, 429, 429),
                    clients.stream()
                            .map(client -> client.response().status())
                            .sorted()
                            .toList());
        }
    }
}
