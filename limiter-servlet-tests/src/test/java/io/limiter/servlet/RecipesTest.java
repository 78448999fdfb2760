package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision.Source;
import io.limiter.ManualTime;
import io.limiter.kit.Pages;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Each recipe of docs/how-do-i/limit-requests.md is a file, and works over HTTP as the page describes. */
class RecipesTest extends Sited {
    private static final Path FILES = Path.of("src", "test", "resources", "recipes");

    private final AtomicInteger served = new AtomicInteger();
    private RuleSite site;

    private void start(RuleSite.Container container, String recipe) {
        site = site(container, Pages.read(FILES.resolve(recipe + ".properties")));
    }

    @Test
    void thePageHasEachFileAsItIs() throws IOException {
        Set<String> onPage = new TreeSet<>(Pages.blocks(Pages.text("how-do-i/limit-requests"), "properties"));
        try (Stream<Path> files = Files.list(FILES)) {
            assertEquals(files.map(Pages::read).collect(Collectors.toCollection(TreeSet::new)), onPage);
        }
    }

    @ParameterizedTest
    @EachContainer
    void ban(RuleSite.Container container) {
        start(container, "ban");
        assertEquals(5, deliveries(24, "/login"));
        assertFalse(site.send("POST", "/login", "").body().isEmpty(), "the twentieth denial");
        site.time.advance(Duration.ofMinutes(14));
        assertEquals(0, deliveries(5, "/login"), "blocked, although there is quota");
        assertTrue(site.send("POST", "/login", "").body().contains("#abnormal-usage-detected"));
        assertEquals(5, site.reached(5, "/login"), "another method is no login");
        site.time.advance(Duration.ofMinutes(1));
        assertEquals(5, deliveries(5, "/login"));
    }

    @ParameterizedTest
    @EachContainer
    void publicApi(RuleSite.Container container) {
        start(container, "public-api");
        assertEquals(10, site.reached(11, "/api/a", "X-Api-Key", "ann"));
        assertEquals(10, site.reached(11, "/api/a/b", "X-Api-Key", "bob"));
        // Without a key: the address. 30 in all have come from it then.
        assertEquals(10, site.reached(11, "/api/a"));
        assertEquals(0, site.reached(1, "/api/a", "X-Api-Key", "new"));
        assertEquals(10, site.reached(11, "/api/a", "Test-Address", "192.0.2.1"));
        int invented = IntStream.range(0, 40)
                .map(i -> site.reached(1, "/api/a", "Test-Address", "192.0.2.2", "X-Api-Key", "invented" + i))
                .sum();
        assertEquals(30, invented);
    }

    @ParameterizedTest
    @EachContainer
    void byUser(RuleSite.Container container) {
        start(container, "by-user");
        assertEquals(10, site.reached(11, "/page", "Test-User", "ann"));
        assertEquals(0, site.reached(1, "/page", "Test-User", "ann", "Test-Address", "192.0.2.1"), "from elsewhere");
        assertEquals(10, site.reached(11, "/page", "Test-User", "bob"));
        assertEquals(10, site.reached(11, "/page"), "the quota of those without a login");
        assertEquals(0, site.reached(1, "/page", "Test-User", "eve"), "30 from one address");
    }

    /** The plan of a token's claim is found by {@code getClaim} of the principal, which has a test of its own. */
    @ParameterizedTest
    @EachContainer
    void jwtClaim(RuleSite.Container container) {
        start(container, "jwt-claim");
        assertEquals(5, site.reached(6, "/api/a", "Test-User", "tenant1"), "without a claim: free");
        assertEquals(5, site.reached(6, "/api/b", "Test-User", "tenant2"));
    }

    @ParameterizedTest
    @EachContainer
    void cost(RuleSite.Container container) {
        start(container, "cost");
        assertEquals(4, site.reached(5, "/export", "Test-User", "ann"));
        assertEquals(0, site.reached(1, "/search", "Test-User", "ann"));
        assertEquals(3, site.reached(3, "/export", "Test-User", "bob"));
        assertEquals(5, site.reached(6, "/search", "Test-User", "bob"), "what three exports leave");
    }

    /** A sixth account is refused, while the five that are known still work. */
    @ParameterizedTest
    @EachContainer
    void passwordSpraying(RuleSite.Container container) {
        start(container, "password-spraying");
        List<String> known = List.of("ann", "bob", "10", "1e1", "9007199254740993");
        for (int round = 0; round < 2; round++) {
            known.forEach(account -> assertEquals(200, login(account)));
            for (String sixth : List.of("eve", "1E1", "10.0", "9007199254740992", "ANN")) {
                assertEquals(429, login(sixth));
            }
        }
        assertEquals(200, login("eve", "Test-Address", "192.0.2.9"));
        site.time.advance(Duration.ofHours(1));
        assertEquals(200, login("eve"));
    }

    private int post(String path, String... headers) {
        return site.send("POST", path, "", headers).statusCode();
    }

    private int login(String account, String... headers) {
        return post("/login/" + account, headers);
    }

    @ParameterizedTest
    @EachContainer
    void sharedAccounts(RuleSite.Container container) {
        start(container, "shared-accounts");
        for (int round = 0; round < 2; round++) {
            for (String address : List.of("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2")) {
                assertEquals(200, site.status("/page", "Test-User", "ann", "Test-Address", address));
            }
            assertEquals(429, site.status("/page", "Test-User", "ann", "Test-Address", "192.0.2.3"));
        }
        assertEquals(200, site.status("/page", "Test-User", "bob", "Test-Address", "192.0.2.3"));
    }

    @ParameterizedTest
    @EachContainer
    void articles(RuleSite.Container container) {
        start(container, "articles");
        for (int round = 0; round < 2; round++) {
            for (String id : List.of("1", "2", "3", "4")) {
                assertEquals(200, site.status("/articles/" + id, "Test-User", "ann"));
                assertEquals(round == 0 ? 200 : 429, post("/score/" + id, "Test-User", "ann"));
            }
            assertEquals(429, site.status("/articles/5", "Test-User", "ann"));
        }
        site.time.advance(Duration.ofDays(1));
        assertEquals(200, site.status("/articles/5", "Test-User", "ann"));
        assertEquals(200, post("/score/1", "Test-User", "ann"));
    }

    @ParameterizedTest
    @EachContainer
    void healthAndOffice(RuleSite.Container container) {
        start(container, "health-and-office");
        assertEquals(10, site.reached(11, "/page", "Test-Address", "192.0.2.1"));
        assertEquals(20, site.reached(20, "/health", "Test-Address", "192.0.2.1"));
        assertEquals(20, site.reached(20, "/page", "Test-Address", "203.0.113.9"));
        assertEquals(20, site.reached(20, "/page", "Test-Address", "2001:db8:1:2::3"));
        assertEquals(10, site.reached(20, "/page", "Test-Address", "2001:db8:2::3"));
        assertEquals(0, site.reached(5, "/health/../page", "Test-Address", "192.0.2.1"));
    }

    @ParameterizedTest
    @EachContainer
    void webhooks(RuleSite.Container container) {
        start(container, "webhooks");
        assertEquals(20, deliveries(25, "/webhooks/shop"));
        site.time.advance(Duration.ofSeconds(1));
        assertEquals(5, deliveries(25, "/webhooks/shop"));
        site.time.advance(Duration.ofSeconds(60));
        int invented = IntStream.range(0, 60)
                .map(i -> deliveries(1, "/webhooks/invented" + i))
                .sum();
        assertEquals(40, invented);
    }

    private int deliveries(int calls, String path) {
        int before = site.served.get();
        IntStream.range(0, calls).forEach(i -> site.send("POST", path, "{}"));
        return site.served.get() - before;
    }

    @ParameterizedTest
    @EachContainer
    void expensiveExport(RuleSite.Container container) {
        start(container, "expensive-export");
        for (String user : new String[] {"ann", "bob"}) {
            assertEquals(3, site.reached(4, "/api/orders/export", "Test-User", user));
        }
        assertEquals(2, site.reached(3, "/api/orders/export", "Test-User", "eve"), "the database has 8");
        assertEquals(5, site.reached(5, "/api/orders", "Test-User", "eve"));
    }

    @ParameterizedTest
    @EachContainer
    void staticFiles(RuleSite.Container container) {
        start(container, "static-files");
        assertEquals(30, site.reached(30, "/static/css/site.css"));
        assertEquals(5, site.reached(5, "/favicon.ico"));
        assertEquals(10, site.reached(12, "/page"));
        assertEquals(0, site.reached(1, "/static/../page"));
    }

    @ParameterizedTest
    @EachContainer
    void calendarDay(RuleSite.Container container) {
        start(container, "calendar-day");
        OffsetDateTime night = OffsetDateTime.parse("2026-10-25T00:00:30+02:00");
        site.time.setMicros(night.toEpochSecond() * 1_000_000);
        HttpResponse<String> first = site.get("/reports/a");
        assertEquals("\"reports\";q=20", Container.field(first, "RateLimit-Policy"));
        // A day of 25 hours.
        assertEquals("\"reports\";r=19;t=89970", Container.field(first, "RateLimit"));
        assertEquals(19, site.reached(20, "/reports/b"));
        site.time.advance(Duration.ofSeconds(89_969));
        assertEquals(0, site.reached(1, "/reports/b"));
        site.time.advance(Duration.ofSeconds(1));
        assertEquals(20, site.reached(21, "/reports/b"));
    }

    @ParameterizedTest
    @EachContainer
    void gradualRollout(RuleSite.Container container) {
        start(container, "gradual-rollout");
        assertEquals(10, site.reached(12, "/page"));
        assertEquals(4, site.rateLimiter.monitor().allowed("next", Source.IN_PROCESS));
        assertEquals(6, site.rateLimiter.monitor().denied("next", Source.IN_PROCESS));
    }

    /** Answers 401 to wrong passwords, as an application does. */
    private Container startLogin(Container.Kind container) throws Exception {
        return container.start(
                directory,
                List.of(WebServer.limiter(new ManualTime(), Pages.read(FILES.resolve("login.properties")))),
                Map.of("/login/*", (request, response) -> {
                    served.incrementAndGet();
                    response.setStatus("right".equals(request.getHeader("Password")) ? 200 : 401);
                }));
    }

    @ParameterizedTest
    @EachContainer
    void login(Container.Kind container) throws Exception {
        try (Container running = startLogin(container)) {
            for (int i = 0; i < 50; i++) {
                assertEquals(200, tried(running, "ann", "right"), "who logs in uses nothing");
            }
            for (int i = 0; i < 5; i++) {
                assertEquals(401, tried(running, "ann", "wrong"));
            }
            assertEquals(429, tried(running, "ann", "right"), "the account");
            for (int i = 0; i < 15; i++) {
                assertEquals(401, tried(running, "account" + i, "wrong"));
            }
            assertEquals(429, tried(running, "bob", "right"), "the address");
        }
    }

    /** An application may take all of them for ann: by its own code, or by the collation of its database. */
    @ParameterizedTest
    @EachContainer
    void allSpellingsOfAnAccountHaveFiveGuessesTogether(Container.Kind container) throws Exception {
        List<String> spellings = List.of(
                "ann",
                "Ann",
                "ANN",
                "aNN",
                "ann.",
                "ann..",
                "ann%20",
                "%20ann",
                "ann%C2%A0",
                "ann%E2%80%8B",
                "a%E2%80%8Bnn",
                "a%C2%ADnn",
                "%EF%BB%BFann",
                "%EF%BD%81%EF%BD%8E%EF%BD%8E",
                "%EF%BC%A1nn",
                "ann%E3%80%80",
                "%E2%93%90nn");
        try (Container running = startLogin(container)) {
            long guesses = IntStream.range(0, 5)
                    .boxed()
                    .flatMap(round -> spellings.stream())
                    .filter(spelling -> tried(running, spelling, "wrong") == 401)
                    .count();
            assertEquals(5, guesses);
            assertEquals(401, tried(running, "zo%C3%AB", "wrong"), "another account");
        }
    }

    @ParameterizedTest
    @EachContainer
    void threeHundredWrongPasswordsAtOnce(Container.Kind container) throws Exception {
        try (Container running = startLogin(container)) {
            IntStream.range(0, 300).parallel().forEach(i -> tried(running, "ann", "wrong"));
            assertEquals(5, served.get());
        }
    }

    private static int tried(Container running, String account, String password) {
        return running.send("POST", "/login/" + account, "", "Password", password)
                .statusCode();
    }

    @ParameterizedTest
    @EachContainer
    void plans(RuleSite.Container container) {
        start(container, "plans");
        assertEquals(5, site.reached(6, "/api/a", "X-Api-Key", "ann"));
        assertEquals(20, site.reached(21, "/api/a", "X-Api-Key", "bob", "X-Plan", "gold"));
        assertEquals(5, site.reached(6, "/api/a", "X-Api-Key", "eve", "X-Plan", "platinum"), "no such plan");
    }
}
