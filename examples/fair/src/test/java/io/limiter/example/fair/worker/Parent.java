package io.limiter.example.fair.worker;

import io.limiter.example.fair.tasks.TaskWorker;
import java.util.concurrent.locks.LockSupport;

/** A process that starts a worker, prints its process id, and waits to be killed. */
final class Parent {
    private Parent() {}

    /** Arguments: those of the worker. */
    public static void main(String[] args) {
        System.out.println(WorkerProcess.start(TaskWorker.class, args).pid());
        while (true) {
            LockSupport.park();
        }
    }
}
