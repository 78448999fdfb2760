package io.limiter.example.fair.tasks;

import io.limiter.example.fair.RedisAddress;
import io.limiter.example.fair.reservations.Reservations;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.example.fair.worker.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The evening's timetable, and thousands of tasks at once. */
@RestController
@RequestMapping("/api/tasks")
class TasksController implements DisposableBean {
    private static final int MOST_AT_ONCE = 5_000;
    private static final int SHOWN = 4;
    private static final int PAY_SECONDS = 6;
    private static final String EVENINGS = "fair:{tasks}:evening";
    private static final String BATCHES = "fair:{tasks}:batches";
    private static final String SEATS = "fair:{tasks}:seats";
    /** What happens in the evening, and after how many seconds. */
    private static final Map<String, Integer> EVENING = new LinkedHashMap<>();

    static {
        EVENING.put("open", 2);
        EVENING.put("remind", 5);
        EVENING.put("close", 8);
    }

    /** A task that waits ({@code due}) or that a worker has ({@code leased}), and for how long still. */
    record Shown(String id, String state, long millis) {}

    /** One step of the evening, and how often it took effect: 0 or 1. */
    record Step(String name, long effects) {}

    /** The panel. Claims are at least as many as effects; {@code notOnce} counts tasks whose effect is not exactly one. */
    record View(
            List<Step> evening,
            List<Shown> tasks,
            int due,
            int leased,
            long claims,
            int effects,
            long notOnce,
            List<Long> workers,
            Map<String, String> reservations,
            long seatsReturned) {}

    record Many(@Nullable Integer count) {}

    record Seat(@Nullable String id) {}

    record Said(String text) {}

    private final RedissonClient redisson;
    private final DelayedTasks tasks;
    private final Workers workers;
    private final Reservations reservations;

    TasksController(RedissonClient redisson, RedisAddress redis, @Value("${fair.tasks.lease:4s}") Duration lease) {
        this.redisson = redisson;
        this.tasks = new DelayedTasks(redisson, lease);
        this.reservations = new Reservations(redisson, Duration.ofSeconds(PAY_SECONDS), lease);
        String leaseMillis = Long.toString(lease.toMillis());
        // 100 tasks of 5 ms are a batch of half a second: there is always one in progress for the visitor to break.
        this.workers = new Workers(
                2, place -> WorkerProcess.start(TaskWorker.class, redis.address(), leaseMillis, "5", "100"));
    }

    @GetMapping
    View view() {
        RMap<String, String> effects = redisson.getMap(DelayedTasks.EFFECTS, StringCodec.INSTANCE);
        long evening = evenings().get();
        List<Step> steps = EVENING.keySet().stream()
                .map(name -> new Step(name, Long.parseLong(effects.getOrDefault(name + "-" + evening, "0"))))
                .toList();
        List<Shown> shown = new ArrayList<>();
        add(shown, DelayedTasks.LEASED, "leased");
        add(shown, DelayedTasks.DUE, "due");
        return new View(
                steps,
                shown,
                redisson.getScoredSortedSet(DelayedTasks.DUE).size(),
                redisson.getScoredSortedSet(DelayedTasks.LEASED).size(),
                redisson.getAtomicLong(DelayedTasks.CLAIMS).get(),
                effects.size(),
                effects.readAllValues().stream()
                        .filter(times -> !times.equals("1"))
                        .count(),
                workers.pids(),
                reservations.states(),
                reservations.returned());
    }

    private void add(List<Shown> shown, String key, String state) {
        long now = System.currentTimeMillis();
        DelayedTasks.first(redisson, key, SHOWN)
                .forEach((id, at) -> shown.add(new Shown(id, state, Math.max(0, at - now))));
    }

    private RAtomicLong evenings() {
        return redisson.getAtomicLong(EVENINGS);
    }

    /** Schedules a new evening, from now on. */
    @PostMapping("/evening")
    Said evening() {
        long evening = evenings().incrementAndGet();
        Map<String, String> payloads = new LinkedHashMap<>();
        Map<String, Duration> delays = new LinkedHashMap<>();
        EVENING.forEach((name, seconds) -> {
            payloads.put(name + "-" + evening, "{}");
            delays.put(name + "-" + evening, Duration.ofSeconds(seconds));
        });
        // Together: a poll that opens closes.
        tasks.schedule(payloads, delays);
        return new Said("The poll opens in 2 s, reminds in 5 s and closes in 8 s, if a worker runs.");
    }

    /** Schedules many tasks that are due at once. */
    @PostMapping("/many")
    Said many(@RequestBody Many many) {
        int count = many.count() == null ? 0 : many.count();
        if (count < 1 || count > MOST_AT_ONCE) {
            throw new IllegalArgumentException("count is " + count + "; send from 1 to " + MOST_AT_ONCE);
        }
        String batch = Long.toString(redisson.getAtomicLong(BATCHES).incrementAndGet(), 36);
        Map<String, String> payloads = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            payloads.put("letter-" + batch + "-" + i, "{}");
        }
        tasks.schedule(payloads, Duration.ZERO);
        return new Said(count + " tasks are due now.");
    }

    @PostMapping("/reserve")
    Said reserve() {
        String id = "seat-" + redisson.getAtomicLong(SEATS).incrementAndGet();
        reservations.reserve(id, 1);
        return new Said(id + " is reserved; pay within " + PAY_SECONDS + " s.");
    }

    /** Pays the reservation of an id. */
    @PostMapping("/pay")
    Said pay(@RequestBody Seat seat) {
        String id = seat.id() == null ? "" : seat.id();
        return new Said(reservations.pay(id) ? id + " is paid." : id + " has expired; reserve again.");
    }

    @Scheduled(fixedDelay = 1_000)
    void expire() {
        reservations.expire("site");
    }

    @PostMapping("/worker")
    Said worker() {
        return new Said("Process " + workers.start() + " starts.");
    }

    @PostMapping("/kill")
    Said kill() {
        return new Said(workers.kill() + " What it had claimed is claimed again when its lease ends.");
    }

    @PostMapping("/clear")
    Said clear() {
        reservations.clear(
                DelayedTasks.DUE,
                DelayedTasks.PAYLOADS,
                DelayedTasks.LEASED,
                DelayedTasks.CLAIMS,
                DelayedTasks.EFFECTS,
                EVENINGS,
                BATCHES,
                SEATS);
        return new Said("All tasks are deleted.");
    }

    @Override
    public void destroy() {
        workers.close();
    }
}
