package io.limiter.example.fair.tasks;

import io.limiter.example.fair.tasks.DelayedTasks.Task;
import io.limiter.example.fair.worker.WorkerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs due tasks, batch after batch, and pauses only when none is due. */
public final class TaskWorker {
    private static final Logger LOG = LoggerFactory.getLogger(TaskWorker.class);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private TaskWorker() {}

    /** Arguments: the address of Redis, then in milliseconds the lease and the work of a task, then the most tasks of a batch. */
    public static void main(String[] args) {
        RedissonClient redisson = WorkerProcess.connect(args[0], Duration.ofSeconds(30));
        DelayedTasks tasks = new DelayedTasks(redisson, Duration.ofMillis(Long.parseLong(args[1])));
        long workNanos = Duration.ofMillis(Long.parseLong(args[2])).toNanos();
        int most = Integer.parseInt(args[3]);
        while (true) {
            try {
                drain(tasks, most, task -> LockSupport.parkNanos(workNanos));
            } catch (RedisException e) {
                LOG.warn("Redis did not answer; the tasks stay", e);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** Runs everything that is due now; returns how many tasks took effect. A task whose work throws is claimed again after its lease. */
    public static long drain(DelayedTasks tasks, int most, Consumer<Task> work) {
        long effects = 0;
        for (List<Task> batch = tasks.claim(most); !batch.isEmpty(); batch = tasks.claim(most)) {
            List<Task> done = new ArrayList<>();
            for (Task task : batch) {
                try {
                    work.accept(task);
                    done.add(task);
                } catch (RuntimeException e) {
                    LOG.warn("task {} failed; it runs again after its lease: {}", task.id(), e.toString());
                }
            }
            effects += tasks.complete(done);
        }
        return effects;
    }
}
