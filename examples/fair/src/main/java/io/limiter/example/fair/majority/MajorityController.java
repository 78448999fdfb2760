package io.limiter.example.fair.majority;

import io.limiter.example.fair.lock.MajorityLock.Held;
import io.limiter.example.fair.lock.ResultSheet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Three lock servers of this instance, which the visitor stops and starts; the visitor and a rival lock most of them, and write a result. */
@RestController
@RequestMapping("/api/majority")
class MajorityController implements DisposableBean {
    private static final int SERVERS = 3;
    private static final Duration LEASE = Duration.ofSeconds(20);
    private static final String LOCK = "fair:{majority}:count";
    private static final List<String> NAMES = List.of("you", "the rival");

    /** {@code holder} has locked it for so long; nobody where it is empty. */
    record Server(String name, boolean up, String holder, long millis) {}

    /** For how long one may trust its lock, by its own clock, and its tokens. */
    record Trust(String name, long millis, Map<String, Long> tokens) {}

    record View(List<Server> servers, List<Trust> trusts, String result, List<String> writes) {}

    record Who(@Nullable String holder) {}

    record Said(String text, boolean good) {}

    private final ResultSheet sheet;
    private final AtomicInteger results = new AtomicInteger();
    private final List<LockServer> servers = new ArrayList<>();
    private final Map<String, Holder> holders = Collections.synchronizedMap(new LinkedHashMap<>());

    MajorityController(RedissonClient redisson) {
        sheet = new ResultSheet(redisson, "majority");
    }

    @GetMapping
    View view() {
        List<Server> shown = new ArrayList<>();
        for (LockServer server : started()) {
            shown.add(shown("server" + shown.size(), server));
        }
        List<Trust> trusts = new ArrayList<>();
        for (String name : NAMES) {
            Holder holder = holders.get(name);
            if (holder != null) {
                Map<String, Long> tokens = holder.held().map(Held::tokens).orElse(Map.of());
                trusts.add(new Trust(name, holder.trustedMillis(), tokens));
            }
        }
        return new View(shown, trusts, sheet.result(), sheet.writes());
    }

    private Server shown(String name, LockServer server) {
        if (server.isUp()) {
            try {
                RFencedLock lock = server.client().getFencedLock(LOCK);
                String holder = "";
                for (String one : NAMES) {
                    Holder its = holders.get(one);
                    if (its != null && lock.isHeldByThread(its.threadId())) {
                        holder = one;
                    }
                }
                return new Server(name, true, holder, Math.max(0, lock.remainTimeToLive()));
            } catch (RedisException starting) {
                // As one that is down.
            }
        }
        return new Server(name, false, "", 0);
    }

    /** Starts the servers, those that are down without data. */
    @PostMapping("/start")
    Said start() {
        synchronized (servers) {
            if (servers.isEmpty()) {
                for (int i = 0; i < SERVERS; i++) {
                    servers.add(new LockServer());
                }
                List<RedissonClient> clients =
                        servers.stream().map(LockServer::client).toList();
                NAMES.forEach(name -> holders.put(name, new Holder(clients, LOCK)));
                return new Said("Three servers run. They know nothing of each other.", true);
            }
        }
        String started = each(LockServer::start);
        return started.isEmpty()
                ? new Said("All three run already.", true)
                : new Said("Started without data: " + started + ". They give their locks to anybody.", true);
    }

    /** Stops the last server that runs. */
    @PostMapping("/stop")
    Said stop() {
        List<LockServer> all = new ArrayList<>(started());
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).stop()) {
                long up = all.stream().filter(LockServer::isUp).count();
                return new Said("server" + i + " is killed; " + up + " of " + SERVERS + " run.", true);
            }
        }
        return new Said("No server runs; start them.", false);
    }

    @PostMapping("/lock")
    Said lock(@RequestBody Who who) {
        Optional<Held> held = holder(who).lock(LEASE);
        String name = String.valueOf(who.holder());
        return held.map(got -> new Said(
                        subject(name, "hold") + got.tokens().size() + " of " + SERVERS + " servers, tokens "
                                + got.tokens() + ".",
                        true))
                .orElseGet(() -> new Said(subject(name, "get") + "no majority, and unlocked what it had got.", false));
    }

    @PostMapping("/unlock")
    Said unlock(@RequestBody Who who) {
        holder(who).unlock();
        return new Said("Unlocked, where the server runs.", true);
    }

    /** Writes with the tokens of the last lock, also after its end: as one who was paused does. */
    @PostMapping("/write")
    Said write(@RequestBody Who who) {
        String name = String.valueOf(who.holder());
        Optional<Held> held = holder(who).held();
        if (held.isEmpty()) {
            return new Said(subject(name, "have") + "no tokens; lock first.", false);
        }
        boolean written = sheet.write(
                name, results.incrementAndGet() + " votes", held.get().tokens());
        return new Said(
                written ? "Written." : "Refused: one of the tokens is older than that of an accepted write.", written);
    }

    private static String subject(String name, String verb) {
        return name.equals("you")
                ? "You " + verb + " "
                : "The rival " + (verb.equals("have") ? "has" : verb + "s") + " ";
    }

    private Holder holder(Who who) {
        Holder holder = holders.get(String.valueOf(who.holder()));
        if (holder == null) {
            throw new IllegalArgumentException(
                    NAMES.contains(who.holder()) ? "no server runs; start them" : "holder must be one of " + NAMES);
        }
        return holder;
    }

    private List<LockServer> started() {
        synchronized (servers) {
            return List.copyOf(servers);
        }
    }

    /** The names of the servers that it was true of. */
    private String each(Predicate<LockServer> does) {
        List<LockServer> all = started();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (does.test(all.get(i))) {
                names.add("server" + i);
            }
        }
        return String.join(" and ", names);
    }

    @Override
    public void destroy() {
        holders.values().forEach(Holder::close);
        started().forEach(LockServer::close);
    }
}
