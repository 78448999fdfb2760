package io.limiter.example.fair.notices;

import io.limiter.example.fair.notices.Logins.Login;
import io.limiter.example.fair.shell.Names;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Notices to voters, delivered by hand, so that one sees in which order. */
@RestController
@RequestMapping("/api/notices")
public class NoticesController {
    /** A voter, and a title if it is for publishing. */
    record Request(@Nullable String voter, @Nullable String title) {}

    /** The number of queued notices, those who are active, the inbox of a voter, and how many log in. */
    record View(int queued, Collection<String> active, List<Notice> inbox, int logins) {}

    /** Of voters who log in: how many a worker has let in, how many notices they pulled, and how many wait. */
    record Worked(int voters, int pulled, int waiting) {}

    /** How many notices a voter pulled. */
    record Arrival(int pulled) {}

    /** How many voters arrived while how many notices were delivered; inboxes that do not have each of them once. */
    record Rush(int voters, int notices, long wrong) {}

    /** A fan-out to this number of inboxes, in milliseconds. */
    record FanOut(int pipelined, long pipelinedMillis, int oneByOne, long oneByOneMillis) {}

    private static final String DRILL = "fair:notices:drill:";
    private static final int INBOX = 6;
    private static final int LOGINS = 300;
    private static final int LET_IN = 100;
    private static final int CROWD = 40;
    private static final int BURST = 20;
    private static final int PIPELINED = 10_000;
    private static final int ONE_BY_ONE = 1_000;

    private final RedissonClient redisson;
    private final Notices notices;
    private final Logins logins;

    NoticesController(RedissonClient redisson) {
        this.redisson = redisson;
        this.notices = new Notices(redisson);
        this.logins = new Logins(redisson, Duration.ofSeconds(3));
    }

    /** The queue, the active voters and an inbox. */
    @GetMapping
    View view(String voter) {
        return new View(
                notices.queued().size(),
                notices.active(),
                notices.inbox(Names.checked("voter", voter), INBOX),
                logins.size());
    }

    /** A voter comes. */
    @PostMapping("/arrive")
    Arrival arrive(@RequestBody Request request) {
        return new Arrival(notices.arrive(Names.checked("voter", request.voter())));
    }

    /** Hundreds of voters log in at once, each of them twice. */
    @PostMapping("/logins/rush")
    Worked logIn() {
        List<String> voters =
                IntStream.range(0, LOGINS).mapToObj(i -> "login-" + i).toList();
        logins.enter(voters);
        logins.enter(voters);
        return new Worked(0, 0, logins.size());
    }

    /** A worker lets in the next ones. */
    @PostMapping("/logins/next")
    Worked letIn() {
        int pulled = 0;
        List<Login> taken = logins.take(LET_IN);
        for (Login login : taken) {
            pulled += notices.arrive(login.voter());
            logins.done(login);
        }
        return new Worked(taken.size(), pulled, logins.size());
    }

    /** A worker takes the next ones and dies. */
    @PostMapping("/logins/die")
    Worked die() {
        return new Worked(logins.take(LET_IN).size(), 0, logins.size());
    }

    /** Queues a notice to everybody. */
    @PostMapping("/global")
    long publish(@RequestBody Request request) {
        return notices.publish(null, Names.checked("title", request.title()), "To all voters.");
    }

    /** Queues a notice to one voter. */
    @PostMapping("/personal")
    long publishPersonal(@RequestBody Request request) {
        String voter = Names.checked("voter", request.voter());
        return notices.publish(voter, Names.checked("title", request.title()), "Only to " + voter + ".");
    }

    /** Delivers the next notice. */
    @PostMapping("/deliver")
    Optional<Notices.Delivery> deliver() {
        return notices.deliverNext();
    }

    /** Voters arrive while notices are delivered by several workers: each voter must get each notice once. */
    @PostMapping("/rush")
    Rush rush() {
        List<Long> published = IntStream.range(0, BURST)
                .mapToObj(i -> notices.publish(null, "Rush " + (i + 1), "To all voters."))
                .toList();
        List<String> voters =
                IntStream.range(0, CROWD).mapToObj(i -> "voter-" + i).toList();
        voters.parallelStream().forEach(voter -> {
            notices.arrive(voter);
            notices.deliverNext();
        });
        while (notices.deliverNext().isPresent()) {
            // Until the queue is empty.
        }
        return new Rush(
                CROWD,
                BURST,
                voters.stream().filter(voter -> !has(voter, published)).count());
    }

    private boolean has(String voter, List<Long> published) {
        List<Long> ids =
                notices.inbox(voter, 10 * BURST).stream().map(Notice::id).toList();
        return published.stream().allMatch(id -> Collections.frequency(ids, id) == 1);
    }

    /** Writes into many inboxes with pipelining, and into fewer without, and removes them. */
    @PostMapping("/fan-out")
    FanOut fanOut() {
        // Short-lived, in case that this instance dies before it removes them.
        Inboxes drill = new Inboxes(redisson, DRILL + "inbox:", DRILL + "notice:", Duration.ofMinutes(1));
        List<String> voters =
                IntStream.range(0, PIPELINED).mapToObj(i -> "v" + i).toList();
        long begin = System.nanoTime();
        drill.push(voters, 1, Notice.Kind.GLOBAL);
        long between = System.nanoTime();
        drill.pushOneByOne(voters.subList(0, ONE_BY_ONE), 2, Notice.Kind.GLOBAL);
        long end = System.nanoTime();
        drill.delete(voters);
        return new FanOut(PIPELINED, (between - begin) / 1_000_000, ONE_BY_ONE, (end - between) / 1_000_000);
    }
}
