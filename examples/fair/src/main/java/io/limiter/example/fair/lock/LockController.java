package io.limiter.example.fair.lock;

import io.limiter.example.fair.RedisAddress;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.example.fair.worker.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Counters that want the same lock, each a process; the visitor kills the holder, or freezes it longer than its lock lasts. */
@RestController
@RequestMapping("/api/lock")
class LockController implements DisposableBean {
    private static final String WATCHDOG_MILLIS = "2000";
    private static final String STEP_MILLIS = "800";
    private static final int COUNTERS = 2;
    private static final Map<String, String> VOTES =
            Map.of("tea", "412", "coffee", "388", "cocoa", "151", "water", "73", "juice", "96");

    /**
     * The last accepted write, and the last writes.
     *
     * @param lockedMillis for how long the lock holds if it is not renewed; 0 when it is free
     */
    record View(String result, String by, String token, long lockedMillis, List<String> writes, List<Long> workers) {}

    record Said(String text) {}

    private final RedissonClient redisson;
    private final Workers workers;

    LockController(RedissonClient redisson, RedisAddress redis) {
        this.redisson = redisson;
        this.workers = new Workers(
                COUNTERS,
                place -> WorkerProcess.start(CountWorker.class, redis.address(), WATCHDOG_MILLIS, STEP_MILLIS));
    }

    @GetMapping
    View view() {
        RMap<String, String> sheet = redisson.getMap(ResultSheet.SHEET, StringCodec.INSTANCE);
        return new View(
                sheet.getOrDefault("result", "nobody has counted yet"),
                sheet.getOrDefault("by", ""),
                sheet.getOrDefault("token:redis", ""),
                Math.max(0, redisson.getFencedLock(CountWorker.LOCK).remainTimeToLive()),
                redisson.<String>getList(ResultSheet.LOG, StringCodec.INSTANCE).range(11),
                workers.pids());
    }

    @PostMapping("/worker")
    Said worker() {
        redisson.<String, String>getMap(CountWorker.VOTES, StringCodec.INSTANCE).putAll(VOTES);
        List<Long> started = new ArrayList<>();
        for (int running = workers.pids().size(); running < COUNTERS; running++) {
            started.add(workers.start());
        }
        return new Said(started.isEmpty() ? "Both run already." : "Starting: process " + started + ".");
    }

    @PostMapping("/kill")
    Said kill() {
        return holder(WorkerProcess::kill, "was killed. Its lock ends 2 s after the last renewal.");
    }

    @PostMapping("/freeze")
    Said freeze() {
        return holder(
                WorkerProcess::freeze,
                "is frozen, and does not know that its lock ends in 2 s. Wait until another counts; then continue it.");
    }

    @PostMapping("/thaw")
    Said thaw() {
        workers.all().forEach(WorkerProcess::thaw);
        return new Said("All processes run again. A write with an older token is refused.");
    }

    /** The process of the last accepted write, if this instance started it. */
    private Said holder(Consumer<WorkerProcess> does, String said) {
        String by = redisson.<String, String>getMap(ResultSheet.SHEET, StringCodec.INSTANCE)
                .getOrDefault("by", "");
        Optional<WorkerProcess> holder = workers.all().stream()
                .filter(worker -> by.equals(Long.toString(worker.pid())))
                .findFirst();
        holder.ifPresent(does);
        return new Said(holder.map(worker -> "Process " + worker.pid() + " " + said)
                .orElse("No process of this instance holds the lock; start one and wait until it counts."));
    }

    @Override
    public void destroy() {
        workers.close();
    }
}
