package io.limiter.benchmark.http;

import io.limiter.benchmark.Child;
import io.limiter.benchmark.Samples;
import io.limiter.benchmark.redis.Workload;
import java.io.IOException;

/** A server in another JVM, and how it is measured from this one. */
final class RunningServer implements AutoCloseable {
    /** What {@link #measure} gives. */
    static final String[] FIGURES = {
        "requests_per_s", "p50_us", "p99_us", "p999_us", "server_cpu_us", "gc_ms_per_s", "allowed_share"
    };

    private static final int WARM_CONNECTIONS = 64;

    /** The number of connections, and how many requests begin in a second: 0 in a closed loop. */
    private record Shape(int connections, double perSecond) {
        static Shape of(String callers) {
            String[] parts = callers.split("@", -1);
            return new Shape(Integer.parseInt(parts[0]), parts.length == 1 ? 0 : Double.parseDouble(parts[1]));
        }
    }

    private final String contender;
    private final int[] clients;
    private final Child child;
    private final int port;

    /** Starts it, and waits until it accepts requests. */
    RunningServer(String contender, String workload, String rules, String headers, String redis) throws IOException {
        this.contender = contender;
        this.clients = Workload.of(workload).draw().get();
        this.child = Child.start("http-server", contender, workload, rules, headers, redis);
        this.port = Integer.parseInt(child.line());
    }

    String contender() {
        return contender;
    }

    /**
     * Warms up until the server has used that many seconds of CPU time, or for ten times as long. Then it collects
     * garbage: its clients have state, as on a server that has run for some minutes, and no collection moves them any
     * more.
     */
    void warmUp(double cpuSeconds) throws IOException {
        long end = System.nanoTime() + (long) (cpuSeconds * 1e10);
        double enough = usage()[0] + cpuSeconds * 1e9;
        try (Callers callers = callers(WARM_CONNECTIONS)) {
            while (usage()[0] < enough && System.nanoTime() < end) {
                callers.run(0.2, 0);
            }
        }
        child.ask("collect");
    }

    /** The figures of some seconds under load. */
    double[] measure(String callers, double seconds) throws IOException {
        Shape shape = Shape.of(callers);
        try (Callers running = callers(shape.connections)) {
            return measure(running, shape.perSecond, seconds);
        }
    }

    /** The figures of each of the first seconds. */
    double[][] seconds(String callers, int count) throws IOException {
        Shape shape = Shape.of(callers);
        double[][] seconds = new double[count][];
        try (Callers running = callers(shape.connections)) {
            for (int i = 0; i < count; i++) {
                seconds[i] = measure(running, shape.perSecond, 1);
            }
        }
        return seconds;
    }

    private Callers callers(int most) throws IOException {
        return Callers.of(contender, port, most, clients);
    }

    private double[] measure(Callers running, double perSecond, double seconds) throws IOException {
        double[] before = usage();
        long start = System.nanoTime();
        Samples samples = running.run(seconds, perSecond);
        double took = (System.nanoTime() - start) / 1e9;
        double[] after = usage();
        double count = Math.max(1, samples.count());
        return new double[] {
            samples.count() / took,
            samples.micros(0.5),
            samples.micros(0.99),
            samples.micros(0.999),
            (after[0] - before[0]) / 1e3 / count,
            (after[1] - before[1]) / took,
            samples.count(Callers.OK) / count
        };
    }

    /** Nanoseconds of CPU time, and milliseconds of garbage collection. */
    private double[] usage() throws IOException {
        String[] parts = child.ask("usage").split(" ", -1);
        return new double[] {Double.parseDouble(parts[0]), Double.parseDouble(parts[1])};
    }

    @Override
    public void close() throws IOException {
        child.close();
    }
}
