package io.limiter.redis;

import java.util.Collection;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/** Makes executors of one daemon thread. */
final class OneThread {
    private OneThread() {}

    /** Notes its thread in {@code threads}. Tasks after its end are dropped. */
    static ScheduledThreadPoolExecutor executor(String name, Collection<? super Thread> threads) {
        ScheduledThreadPoolExecutor one = new ScheduledThreadPoolExecutor(
                1,
                task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    threads.add(thread);
                    thread.setContextClassLoader(OneThread.class.getClassLoader());
                    return thread;
                },
                new ThreadPoolExecutor.DiscardPolicy());
        one.setRemoveOnCancelPolicy(true);
        return one;
    }
}
