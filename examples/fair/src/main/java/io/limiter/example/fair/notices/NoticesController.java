package io.limiter.example.fair.notices;

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

    /** The number of queued notices, those who are active, and the inbox of a voter. */
    record View(int queued, Collection<String> active, List<Notice> inbox) {}

    /** How many notices a voter pulled. */
    record Arrival(int pulled) {}

    /** How many voters arrived while how many notices were delivered; inboxes that do not have each of them once. */
    record Rush(int voters, int notices, long wrong) {}

    /** A fan-out to this number of inboxes, in milliseconds. */
    record FanOut(int pipelined, long pipelinedMillis, int oneByOne, long oneByOneMillis) {}

    private static final String DRILL = "fair:notices:drill:";
    private static final int INBOX = 6;
    private static final int CROWD = 40;
    private static final int BURST = 20;
    private static final int PIPELINED = 10_000;
    private static final int ONE_BY_ONE = 1_000;

    private final RedissonClient redisson;
    private final Notices notices;

    NoticesController(RedissonClient redisson) {
        this.redisson = redisson;
        this.notices = new Notices(redisson);
    }

    /** The queue, the active voters and an inbox. */
    @GetMapping
    View view(String voter) {
        return new View(notices.queued().size(), notices.active(), notices.inbox(Names.checked("voter", voter), INBOX));
    }

    /** A voter comes. */
    @PostMapping("/arrive")
    Arrival arrive(@RequestBody Request request) {
        return new Arrival(notices.arrive(Names.checked("voter", request.voter())));
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
