package io.limiter.benchmark.jvm;

import io.limiter.benchmark.ProcessCpu;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** The CPU time of the process, with its compiler and garbage collector, for one operation. */
public final class CpuProfiler implements InternalProfiler {
    /** The name of the figure. */
    static final String LABEL = "cpu";

    private long before;

    @Override
    public String getDescription() {
        return "CPU time of the process for one operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = ProcessCpu.nanos();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double spent = ProcessCpu.nanos() - before;
        return List.of(new ScalarResult(
                LABEL, spent / Math.max(1, result.getMetadata().getAllOps()), "ns/op", AggregationPolicy.AVG));
    }
}
