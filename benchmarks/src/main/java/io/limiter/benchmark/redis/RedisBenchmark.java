package io.limiter.benchmark.redis;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Redis' own load program with the minimal script, if it is on this machine. */
final class RedisBenchmark {
    private static final String PROGRAM = "redis-benchmark";
    /** A first guess at its speed, for the number of requests of a window. */
    private static final int PER_SECOND = 50_000;
    /** The number of consecutive calls for keys of other workloads in its pipeline. */
    private static final String KEYS = "100000";

    /** Its own figures. */
    record Result(double requests, double perSecond, double p50Micros, double p99Micros) {}

    private RedisBenchmark() {}

    /**
     * Runs it for about that long. Blocking callers are its connections; calls in flight are the pipeline of one.
     *
     * @throws Contender.UnavailableException if it is not on this machine, or has no such callers
     */
    static Result run(Server server, Workload workload, String callers, double seconds)
            throws IOException, InterruptedException {
        if (callers.contains("@")) {
            throw new Contender.UnavailableException(PROGRAM + " has no fixed rate");
        }
        boolean async = callers.startsWith("async-");
        String count = callers.replace("async-", "");
        long requests = (long) (PER_SECOND * seconds);
        boolean one = workload.draw().get().length == 1;
        List<String> command = new ArrayList<>(List.of(
                find(),
                "-p",
                Integer.toString(server.port()),
                "--csv",
                "-n",
                Long.toString(requests),
                "-r",
                KEYS,
                "-c",
                async ? "1" : count,
                "-P",
                async ? count : "1",
                "EVALSHA",
                server.load(ScriptCost.resource("gcra")),
                "1",
                one ? "lettuce:{client-0}:g" : "lettuce:{client-__rand_int__}:g",
                Double.toString((double) workload.periodMicros() / workload.permits()),
                Long.toString(workload.periodMicros())));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " failed");
        }
        return result(text, requests);
    }

    /** Parses a heading with names and a row with numbers, both in quotes; times are milliseconds. */
    private static Result result(String text, long requests) throws IOException {
        List<String[]> rows = text.lines()
                .filter(line -> line.startsWith("\""))
                .map(line -> line.substring(1).split("\",\"|\"", -1))
                .toList();
        if (rows.size() < 2) {
            throw new IOException(PROGRAM + " printed no table: " + text);
        }
        List<String> names = Arrays.asList(rows.get(0));
        String[] row = rows.get(rows.size() - 1);
        return new Result(
                requests,
                number(row, names.indexOf("rps")),
                number(row, names.indexOf("p50_latency_ms")) * 1e3,
                number(row, names.indexOf("p99_latency_ms")) * 1e3);
    }

    private static double number(String[] row, int at) {
        return at < 0 || at >= row.length ? Double.NaN : Double.parseDouble(row[at]);
    }

    private static String find() {
        String given = System.getProperty("limiter.redis.benchmark");
        String server = System.getProperty("limiter.redis.executable");
        List<File> places = new ArrayList<>();
        if (given != null) {
            places.add(new File(given));
        }
        places.add(beside(server));
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            places.add(new File(folder, PROGRAM));
        }
        return places.stream()
                .filter(File::canExecute)
                .findFirst()
                .orElseThrow(() -> new Contender.UnavailableException(
                        PROGRAM + " is not on this machine; -Dlimiter.redis.benchmark=/path/to/it"))
                .toString();
    }

    private static File beside(@Nullable String server) {
        return new File(server == null ? null : new File(server).getParentFile(), PROGRAM);
    }
}
