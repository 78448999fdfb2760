package io.limiter.benchmark;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The CPU time of all threads of this process. Other work on the machine affects it less than wall-clock time. */
public final class ProcessCpu {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private ProcessCpu() {}

    /** Nanoseconds so far. */
    public static long nanos() {
        return SYSTEM.getProcessCpuTime();
    }
}
