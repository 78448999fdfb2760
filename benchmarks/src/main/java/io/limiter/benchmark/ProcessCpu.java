package io.limiter.benchmark;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The CPU time of this process, of all its threads: beside other work on the machine it says more than a clock. */
public final class ProcessCpu {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private ProcessCpu() {}

    /** Nanoseconds so far. */
    public static long nanos() {
        return SYSTEM.getProcessCpuTime();
    }
}
