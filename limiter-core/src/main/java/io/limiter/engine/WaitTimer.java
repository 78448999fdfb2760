package io.limiter.engine;

import io.limiter.TimeSource;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one thread on which the queues of a limiter do their work, and its clock. Code of callers never runs on it. */
class WaitTimer implements Executor {
    /** A daemon thread that starts when something waits and ends when nothing does, so that there is nothing to close. */
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, task -> {
        Thread made = new Thread(task, "limiter-wait");
        made.setDaemon(true);
        // Not the class loader of the first caller, which may be a web application that is undeployed.
        made.setContextClassLoader(WaitTimer.class.getClassLoader());
        return made;
    });

    WaitTimer() {
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
    }

    /** The time now, in microseconds of a monotonic clock. */
    long nowMicros() {
        return TimeSource.system().nowMicros();
    }

    /** Runs a task after that number of microseconds, unless the returned future is cancelled before. */
    Future<?> schedule(Runnable task, long micros) {
        return thread.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    @Override
    public void execute(Runnable task) {
        thread.execute(task);
    }
}
