package io.limiter.kit.door;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.ManualTimer;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import io.limiter.kit.Vectors;
import io.limiter.kit.door.Client.Response;
import io.limiter.kit.door.Door.App;
import io.limiter.kit.door.Door.Asked;
import io.limiter.kit.door.Door.Reply;
import io.limiter.kit.door.Door.Running;
import io.limiter.rule.PlanResolver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each door must do in the same way, on each of its servers. The module of a door extends it with a static method
 * {@code doors}.
 */
public abstract class DoorTest {

    @TempDir
    public Path directory;

    private final ManualTime time = new ManualTime();
    private RateLimiter limiter =
            RateLimiters.on(InProcessBackend.builder().timeSource(time).build());
    private final AtomicInteger served = new AtomicInteger();
    private Running running;

    @AfterEach
    void stop() throws Exception {
        if (running != null) {
            running.close();
        }
        limiter.close();
    }

    private void start(Door door, String rules, App app) throws Exception {
        running = door.start(directory, limiter, rules, asked -> {
            served.incrementAndGet();
            return app.reply(asked);
        });
    }

    private Client send(String target, String... headers) {
        return Client.send(running.port(), "GET", target, headers);
    }

    private int status(String target, String... headers) {
        return send(target, headers).response().status();
    }

    private static Reply ok(Asked asked) {
        String status = asked.query().apply("s");
        return new Reply(status == null ? 200 : Integer.parseInt(status));
    }

    private void assertLeft(long left, String rules, String policy, PartitionKey key, String after) {
        Policy limited = Configs.of(rules).policies().get(policy);
        Await.until(left + " left after " + after, () -> Looks.left(limiter, limited, key) == left);
    }

    /** doors.txt: a configuration, and exchanges: what is sent, and the whole answer except what the server adds of its own. */
    @ParameterizedTest
    @MethodSource("doors")
    void recordedRequestsAreAnsweredAsRecorded(Door door) throws Exception {
        List<String> lines = Vectors.lines(DoorTest.class, "doors.txt");
        int begin = lines.indexOf("requests");
        start(door, String.join("\n", lines.subList(0, begin)), DoorTest::ok);
        for (int i = begin + 1; i < lines.size(); ) {
            String line = lines.get(i++);
            if (line.startsWith("wait ")) {
                time.advance(Duration.parse(line.substring("wait ".length())));
                continue;
            }
            List<String> answer = new ArrayList<>();
            while (i < lines.size()
                    && !lines.get(i).startsWith("> ")
                    && !lines.get(i).startsWith("wait ")) {
                answer.add(lines.get(i++));
            }
            String[] parts = line.substring(2).split(" \\+ ");
            String[] first = parts[0].split(" ");
            String[] headers = List.of(parts).subList(1, parts.length).toArray(String[]::new);
            Response response =
                    Client.send(running.port(), first[0], first[1], headers).response();
            // Jetty refuses a path with an empty segment itself, and Gateway a preflight for which it has no settings
            // of CORS.
            boolean isRefused = (response.status() == 400 && first[1].startsWith("//"))
                    || (response.status() == 403 && first[0].equals("OPTIONS"));
            if (!isRefused) {
                assertEquals(line + "\n" + String.join("\n", answer), line + "\n" + shown(response));
            }
        }
    }

    private static final List<String> OF_SERVERS = List.of(
            "connection", "date", "keep-alive", "transfer-encoding", "content-length", "server", "vary", "allow");

    private static String shown(Response response) {
        StringBuilder all = new StringBuilder().append(response.status());
        response.fields().entrySet().stream()
                .filter(field -> !OF_SERVERS.contains(field.getKey()))
                .sorted(Map.Entry.comparingByKey())
                .forEach(field -> all.append("\n")
                        .append(field.getKey() + ": " + field.getValue().replaceFirst(";\\s*charset", ";charset")));
        return response.status() < 400 || response.body().isEmpty()
                ? all.toString()
                : all + "\n" + response.body().strip().replaceAll("\\n", " ");
    }

    /** Whatever is counted is denied here, so what reaches a handler of the application by another path than an exempt one is a way around. */
    @ParameterizedTest
    @MethodSource("doors")
    void noSpellingReachesTheApplicationUncounted(Door door) throws Exception {
        List<String> ways = new ArrayList<>();
        start(door, """
                limiter.rules.all.path = /*
                limiter.rules.all.limits = 0/1h fixed
                limiter.rules.all.except = /health, /static/*, /img/{size}/logo.png
                """, asked -> {
            if (asked.routesTo().test("/admin")) {
                ways.add("to a page that is counted");
            }
            return new Reply(200);
        });
        // What is exempt at each door; everything else is counted, or refused by the server, which may not know such a
        // request.
        Set<String> exempt = Set.copyOf(Vectors.lines(DoorTest.class, "exempt-spellings.txt"));
        List<String> differing = new ArrayList<>();
        for (String target : Spellings.some(300, 3)) {
            int before = ways.size();
            int status = status(target);
            if (ways.size() > before) {
                ways.add(target);
            }
            if ((status == 200 && !exempt.contains(target)) || (status == 429 && exempt.contains(target))) {
                differing.add(status + " " + target);
            }
        }
        assertEquals(List.of(), ways);
        assertEquals("", String.join("\n", differing));
        assertTrue(served.get() >= 5, "the exempt paths themselves: " + served);
    }

    /** The other way round: one rule, for a page that has many spellings. */
    @ParameterizedTest
    @MethodSource("doors")
    void noSpellingOfAPageGetsAroundItsRule(Door door) throws Exception {
        List<String> ways = new ArrayList<>();
        start(door, "limiter.rules.admin.path = /admin, /admin/*\nlimiter.rules.admin.limits = 0/1h fixed\n", asked -> {
            if (asked.routesTo().test("/admin") || asked.routesTo().test("/admin/")) {
                ways.add("around");
            }
            return new Reply(404);
        });
        for (String target : Spellings.some(300, 3)) {
            int before = ways.size();
            status(target);
            if (ways.size() > before) {
                ways.add(target);
            }
        }
        assertEquals(List.of(), ways);
    }

    @ParameterizedTest
    @MethodSource("doors")
    void outcomesDecideWhatIsKept(Door door) throws Exception {
        String rules = """
                limiter.rules.login.path = /*
                limiter.rules.login.limits = 9/1h
                limiter.rules.login.count-on = 401, 5xx, header:Location=*error*, attribute:failed=true
                """;
        CompletableFuture<Void> work = CompletableFuture.completedFuture(null);
        start(door, rules, asked -> switch (asked.query().apply("way")) {
            case "failing" -> throw new IllegalStateException("meant");
            case "location" -> new Reply(302).field("Location", asked.query().apply("to"));
            case "attribute" -> new Reply(200).attribute("failed", asked.query().apply("to"));
            case "later" -> ok(asked).after(work.thenRunAsync(() -> {}));
            default -> ok(asked);
        });
        String[][] sent = {
            {"0", "/?way=at-once&s=200"},
            {"1", "/?way=at-once&s=401"},
            {"1", "/?way=later&s=200"},
            {"2", "/?way=later&s=401"},
            {"2", "/?way=location&to=/"},
            {"3", "/?way=location&to=/login-error"},
            {"3", "/?way=attribute&to=false"},
            {"4", "/?way=attribute&to=true"},
            {"5", "/?way=failing"},
            {"6", "/?way=at-once&s=503"}
        };
        for (String[] one : sent) {
            status(one[1]);
            assertLeft(9 - Long.parseLong(one[0]), rules, "login", PartitionKey.of("127.0.0.1"), one[1]);
        }
    }

    @ParameterizedTest
    @MethodSource("doors")
    void costsAreSettledByTheResponse(Door door) throws Exception {
        String rules = """
                limiter.policies.tokens.limits = 100/1h fixed
                limiter.policies.tokens.holds = 1000
                limiter.rules.by-header.path = /header
                limiter.rules.by-header.key = global
                limiter.rules.by-header.policy = tokens
                limiter.rules.by-header.cost = 10
                limiter.rules.by-header.settle = response-header:X-Tokens
                limiter.rules.by-attribute.path = /attribute
                limiter.rules.by-attribute.key = global
                limiter.rules.by-attribute.policy = tokens
                limiter.rules.by-attribute.cost = 10
                limiter.rules.by-attribute.settle = attribute:tokens
                """;
        start(door, rules, asked -> {
            String tokens = asked.query().apply("t");
            return tokens == null
                    ? new Reply(200)
                    : new Reply(200).field("X-Tokens", tokens).attribute("tokens", Long.parseLong(tokens));
        });
        long left = 100;
        for (String target : List.of("/header?t=30", "/attribute?t=3", "/header", "/attribute?t=0")) {
            left -= target.endsWith("r") ? 10 : Long.parseLong(target.split("=")[1]);
            assertEquals(200, status(target));
            assertLeft(left, rules, "tokens", PartitionKey.global(), target);
        }
    }

    @ParameterizedTest
    @MethodSource("doors")
    void callsInFlightEndHoweverTheResponseEnds(Door door) throws Exception {
        Semaphore arrived = new Semaphore(0);
        List<CompletableFuture<Void>> work = new CopyOnWriteArrayList<>();
        String rules = """
                limiter.rules.api.path = /*
                limiter.rules.api.key = global
                limiter.rules.api.limits = 2 concurrent
                """;
        start(door, rules, asked -> switch (String.valueOf(asked.query().apply("way"))) {
            case "failing" -> throw new IllegalStateException("meant");
            case "waiting" -> {
                CompletableFuture<Void> end = new CompletableFuture<>();
                work.add(end);
                arrived.release();
                yield new Reply(200).after(end);
            }
            default -> ok(asked);
        });
        for (String way : List.of("/?s=200", "/?s=404", "/?way=failing")) {
            for (int i = 0; i < 5; i++) {
                assertTrue(status(way) != 429, way);
                // A client may have the answer before the call has ended.
                assertLeft(2, rules, "api", PartitionKey.global(), way);
            }
        }
        List<Client> clients = List.of(send("/?way=waiting"), send("/?way=waiting"));
        arrived.acquire(2);
        assertEquals(429, status("/?s=200"), "both are held");
        work.get(0).complete(null);
        Await.until("one has ended", () -> status("/?s=200") == 200);
        work.get(1).completeExceptionally(new IllegalStateException("meant"));
        clients.forEach(Client::response);
        assertLeft(2, rules, "api", PartitionKey.global(), "both have ended");
        List<Client> more = List.of(send("/?way=waiting"), send("/?way=waiting"));
        arrived.acquire(2);
        assertEquals(429, status("/?s=200"), "exactly two again");
        work.forEach(end -> end.complete(null));
        more.forEach(one -> assertEquals(200, one.response().status()));
    }

    @ParameterizedTest
    @MethodSource("doors")
    void usersRolesAndAddressesAreThoseOfTheCaller(Door door) throws Exception {
        start(door, Callers.RULES, DoorTest::ok);
        Callers.assertKnown(headers -> status("/", headers));
    }

    /** 40 000 chains under 80 configurations in a long run. What a server refuses itself reaches no rule. */
    @ParameterizedTest
    @MethodSource("doors")
    void theClientIsFoundInEachChainOfProxies(Door door) throws Exception {
        ChainRun run = new ChainRun();
        for (int i = 0; i < Repeats.of(5, 80); i++) {
            stop();
            limiter = RateLimiters.on(run.backend());
            start(door, run.rules(), asked -> new Reply(200));
            run.send(Repeats.of(100, 500), running.port());
        }
        assertEquals(List.of(), run.differences);
        assertTrue(run.refused < 1_000, "refused: " + run.refused);
    }

    @ParameterizedTest
    @MethodSource("doors")
    void eachCallerHasThePlanThatIsFoundForIt(Door door) throws Exception {
        start(door, """
                limiter.plans.free.limits = 1/1h fixed
                limiter.plans.gold.limits = 3/1h fixed
                limiter.plan-lookup.wait = 10s
                limiter.rules.api.path = /looked-up
                limiter.rules.api.key = header:K
                limiter.rules.api.plan = %s
                limiter.rules.api.default-plan = free
                limiter.rules.by-header.path = /by-header
                limiter.rules.by-header.key = header:K
                limiter.rules.by-header.plan = header:Plan
                limiter.rules.by-header.default-plan = free
                limiter.rules.by-user.path = /by-user
                limiter.rules.by-user.key = user
                limiter.rules.by-user.plan = user:name
                limiter.rules.by-user.default-plan = free
                """.formatted(Plans.class.getName()), DoorTest::ok);
        String[][] callers = {
            {"3", "/looked-up", "K: gold-1"},
            {"1", "/looked-up", "K: other"},
            {"1", "/looked-up", "K: failing"},
            {"1", "/looked-up"},
            {"3", "/by-header", "K: a", "Plan: gold"},
            {"1", "/by-header", "K: b", "Plan: none"},
            {"1", "/by-header", "K: c", "Plan: gold", "Plan: gold"},
            {"3", "/by-user", "Test-User: gold"},
            {"1", "/by-user", "Test-User: ann"},
        };
        for (String[] caller : callers) {
            String[] headers = List.of(caller).subList(2, caller.length).toArray(String[]::new);
            for (int i = Integer.parseInt(caller[0]); i > 0; i--) {
                assertEquals(200, status(caller[1], headers), () -> String.join(" ", caller));
            }
            assertEquals(429, status(caller[1], headers), () -> String.join(" ", caller));
        }
    }

    /** A database. */
    public static final class Plans implements PlanResolver {
        @Override
        public @Nullable String plan(String caller) {
            if (caller.equals("failing")) {
                throw new IllegalStateException("meant");
            }
            return caller.startsWith("gold") ? "gold" : null;
        }
    }

    /** A door that has given the only permit at once to the client a, so the next request waits until the test moves the time on. */
    private void startWaiting(Door door, ManualTimer timer) throws Exception {
        limiter.close();
        limiter = timer.limiter();
        start(door, """
                limiter.rules.search.path = /*
                limiter.rules.search.key = header:K
                limiter.rules.search.limits = 1/5s token-bucket burst 1
                limiter.rules.search.wait = 1m
                """, DoorTest::ok);
        assertEquals(200, status("/", "K: a"));
    }

    @ParameterizedTest
    @MethodSource("doors")
    void aRequestWaitsForItsPermitUnlessItsClientLeaves(Door door) throws Exception {
        ManualTimer timer = new ManualTimer();
        startWaiting(door, timer);
        Client leaves = send("/", "K: a");
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        Client stays = send("/", "K: a");
        Await.until("both wait", () -> limiter.monitor().waiting() == 2);
        leaves.close();
        timer.advance(4_000_000);
        assertEquals(1, served.get(), "no permit is due");
        timer.advanceUntil("nobody waits", () -> limiter.monitor().waiting() == 0);
        assertEquals(200, stays.response().status());
    }

    @ParameterizedTest
    @MethodSource("doors")
    void whoWaitsIsDeniedWhenTheServerStops(Door door) throws Exception {
        startWaiting(door, new ManualTimer());
        Client waits = send("/", "K: a");
        Await.until("it waits", () -> limiter.monitor().waiting() == 1);
        running.stopHolding();
        Response answer = waits.response();
        assertEquals(503, answer.status());
        assertEquals("{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503}", answer.body());
        assertEquals(429, status("/", "K: a"), "nobody is held any more");
        assertEquals(1, served.get());
    }
}
