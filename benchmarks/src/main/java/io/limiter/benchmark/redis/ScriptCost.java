package io.limiter.benchmark.redis;

import io.limiter.benchmark.Ours;
import io.limiter.benchmark.Table;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a script in Redis alone: {@code EVALSHA} pipelined over one socket, and the CPU time reported by the
 * server. All scripts of a case run in turn in each round; a row has the medians, and the median over the rounds of the
 * ratio to
 * the minimal script of the same algorithm and to the lean GCRA.
 */
public final class ScriptCost implements AutoCloseable {
    private static final List<String> ALGORITHMS =
            List.of("fixed_window", "token_bucket", "sliding_list", "sliding_zset");
    private static final Pattern ARGUMENTS_7 = Pattern.compile("\\[algorithm\\]\nlocal algorithm = \\{\\}");
    private static final String DAY = "86400000000";
    private static final int PIPELINE = 50;

    /** A measured script: its name in the table, the script, its arguments, and of how many keys. */
    private record Contender(String name, String sha, List<String> arguments, int keys) {}

    /** How it is called. Its keys are deleted after that number of calls, unless it is 0. */
    private record Case(String name, String limit, String period, int keys, int fill) {}

    private final Server server = new Server();
    private final Socket socket;
    private final InputStream in;
    private final int rounds;
    private final int calls;
    private final @Nullable Path before;

    private ScriptCost(int rounds, int calls, @Nullable Path before) throws IOException {
        this.rounds = rounds;
        this.calls = calls;
        this.before = before;
        socket = new Socket(
                InetAddress.getLoopbackAddress(), URI.create(server.address()).getPort());
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    /** Takes rounds, calls of a round, algorithms ({@code all}; {@code holds}: what reservations and calls in flight cost), and a folder of other {@code .lua} files to compare with. */
    public static void run(String[] args, PrintStream out) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
        int calls = args.length > 1 ? Integer.parseInt(args[1]) : 20_000;
        List<String> chosen = args.length > 2 && !args[2].equals("all") ? List.of(args[2].split(",")) : ALGORITHMS;
        if (chosen.contains("holds")) {
            HoldCost.run(ALGORITHMS, rounds, calls, new Table(out, "cpu_us", "cpu_to_take"));
            return;
        }
        if (chosen.contains("flights")) {
            FlightCost.run(new Table(out, "commands_per_s", "redis_cpu_us_per_s", "decisions_per_s"));
            return;
        }
        Table table =
                new Table(out, "cpu_us", "cpu_to_minimal", "cpu_to_gcra", "exec_us", "exec_to_minimal", "exec_to_gcra");
        try (ScriptCost cost = new ScriptCost(rounds, calls, args.length > 3 ? Path.of(args[3]) : null)) {
            for (String algorithm : chosen) {
                for (Case one : cases(algorithm)) {
                    cost.measure(algorithm, one, table);
                }
            }
        }
    }

    private static List<Case> cases(String algorithm) {
        if (!algorithm.startsWith("sliding")) {
            return List.of(
                    new Case("allowed", "1000000000", "1000000000", 1, 0),
                    new Case("allowed", "1000", "60000000", 100_000, 0),
                    new Case("denied", "1", DAY, 1, 0),
                    new Case("denied", "1", DAY, 20_000, 0));
        }
        List<Case> cases = new ArrayList<>();
        for (int limit : new int[] {10, 1_000, 10_000}) {
            String text = Integer.toString(limit);
            cases.add(new Case("filling-" + limit, text, DAY, 1, limit));
            cases.add(new Case("denied-" + limit, text, DAY, 1, 0));
        }
        cases.add(new Case("moving-10000", "10000", "20000", 1, 0));
        cases.add(new Case("allowed-1000", "1000", "60000000", 100_000, 0));
        return cases;
    }

    private void measure(String algorithm, Case one, Table table) throws IOException {
        command("FLUSHALL");
        List<Contender> contenders = new ArrayList<>();
        List<String> four = List.of("1", one.limit, one.period, one.limit);
        contenders.add(load("minimal", resource("minimal_" + algorithm), four, 1));
        contenders.add(load("gcra", resource("lean_gcra"), four, 1));
        contenders.add(load("ours", Ours.script(algorithm), arguments(Ours.script(algorithm), four), 1));
        contenders.add(load("ours-two", Ours.script("batch"), two(algorithm, Ours.script("batch"), one), 2));
        for (int calls = 2; calls <= 3; calls++) {
            contenders.add(load("ours-" + calls + "-calls", Ours.script("batch"), batch(algorithm, four), calls));
        }
        if (algorithm.equals("fixed_window")) {
            contenders.addAll(others(four));
        }
        if (before != null) {
            String text = Files.readString(before.resolve(algorithm + ".lua"));
            contenders.add(load("before", text, arguments(text, four), 1));
        }
        double[][][] figures = new double[contenders.size()][rounds][];
        for (int round = -1; round < rounds; round++) {
            for (int i = 0; i < contenders.size(); i++) {
                Contender contender = contenders.get(i);
                double[] found = round(contender, one, round);
                if (round >= 0) {
                    figures[i][round] = found;
                }
            }
        }
        for (int i = 0; i < contenders.size(); i++) {
            double[] row = new double[6];
            for (int f = 0; f < 2; f++) {
                double[][] own = figures[i];
                int figure = f;
                row[3 * f] = median(Arrays.stream(own).mapToDouble(round -> round[figure]));
                for (int base = 0; base < 2; base++) {
                    double[] ratios = new double[rounds];
                    for (int round = 0; round < rounds; round++) {
                        ratios[round] = own[round][f] / figures[base][round][f];
                    }
                    row[3 * f + 1 + base] = median(Arrays.stream(ratios));
                }
            }
            table.row(algorithm + " " + contenders.get(i).name, one.name, one.keys + " keys", row);
        }
    }

    /** Those without a minimal script: compared with a fixed window with the same limit. */
    private List<Contender> others(List<String> four) throws IOException {
        List<Contender> others = new ArrayList<>();
        for (String[] other : new String[][] {
            {"ours-aligned", "fixed_window", "", "turns=4102444800000000,4102531200000000"},
            {"ours-distinct", "distinct", "member", ""},
            {"ours-block", "block", "", "for=900000000,to=86400000000,of=0"},
            {"ours-allotment", "allotment", "member", "opens=0,closes=4102444800000000"}
        }) {
            List<String> nine = new ArrayList<>(four);
            nine.addAll(List.of("", other[2], "", "", other[3]));
            // A stock has what is on hold beside its state.
            others.add(load(other[0], Ours.script(other[1]), nine, other[1].equals("allotment") ? 2 : 1));
        }
        return others;
    }

    /** The earlier files took seven arguments, which were always sent. */
    private static List<String> arguments(String text, List<String> four) {
        if (!ARGUMENTS_7.matcher(text).find()) {
            return four;
        }
        List<String> seven = new ArrayList<>(four);
        seven.addAll(List.of("", "", ""));
        return seven;
    }

    /** Its name in configurations. */
    static String name(String algorithm) {
        return algorithm.equals("fixed_window") ? "fixed" : algorithm.replace('_', '-');
    }

    /** Calls to as many keys, in one command. */
    private static List<String> batch(String algorithm, List<String> four) {
        List<String> all = new ArrayList<>(List.of("", "1", "1", name(algorithm)));
        all.addAll(four);
        return all;
    }

    /** Two limits in one policy: the second of twice the period. */
    private static List<String> two(String algorithm, String batch, Case one) {
        String name = name(algorithm);
        String twice = Long.toString(2 * Long.parseLong(one.period));
        String first = String.join(",", name, "1", one.limit, one.period, one.limit);
        String second = String.join(",", name, "1", one.limit, twice, one.limit);
        String text = batch.contains("number of forms")
                ? String.join(",", "", "1", "2", first, second)
                : String.join(",", "", "2", first, "", "", second, "", "");
        return List.of(text.split(",", -1));
    }

    private Contender load(String name, String text, List<String> arguments, int keys) throws IOException {
        return new Contender(name, command("SCRIPT", "LOAD", text), arguments, keys);
    }

    /** CPU time of the server's process for a call, and time within EVALSHA. */
    private double[] round(Contender contender, Case one, int round) throws IOException {
        command("CONFIG", "RESETSTAT");
        Server.Usage from = server.usage();
        // So that all keys have state, except in a short smoke run.
        int allCalls = Math.max(calls, round < 0 ? Math.min(one.keys, 50 * calls) : 0);
        for (int done = 0; done < allCalls; ) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            int sent = Math.min(PIPELINE, allCalls - done);
            int extra = 0;
            for (int i = 0; i < sent; i++) {
                int call = done + i;
                if (one.fill > 0 && call % one.fill == 0) {
                    extra++;
                    bytes.write(encoded("DEL", keys(contender, one, 0)));
                }
                // Scattered, so that adjacent keys are not hot together.
                int key = (int) (call * 2_654_435_761L + (round + 1L) * calls * 40_503L & 0x7fffffff) % one.keys;
                bytes.write(encoded("EVALSHA", call(contender, keys(contender, one, key))));
            }
            socket.getOutputStream().write(bytes.toByteArray());
            for (int i = 0; i < sent + extra; i++) {
                reply();
            }
            done += sent;
        }
        double cpu = (server.usage().cpuMicros() - from.cpuMicros()) / allCalls;
        String exec =
                command("INFO", "commandstats").replaceAll("(?s).*cmdstat_evalsha:calls=\\d+,usec=(\\d+).*", "$1");
        return new double[] {cpu, Double.parseDouble(exec) / allCalls};
    }

    private static String[] keys(Contender contender, Case one, int key) {
        String first = "limiter:{bench:" + contender.name + "-" + key + "}:" + one.period;
        return IntStream.range(0, contender.keys)
                .mapToObj(i -> first + "0".repeat(i))
                .toArray(String[]::new);
    }

    private static String[] call(Contender contender, String[] keys) {
        List<String> all = new ArrayList<>(List.of(contender.sha, Integer.toString(keys.length)));
        all.addAll(Arrays.asList(keys));
        all.addAll(contender.arguments);
        return all.toArray(String[]::new);
    }

    private static byte[] encoded(String name, String... arguments) {
        StringBuilder text =
                new StringBuilder("*" + (arguments.length + 1) + "\r\n$" + name.length() + "\r\n" + name + "\r\n");
        for (String argument : arguments) {
            text.append('$')
                    .append(argument.length())
                    .append("\r\n")
                    .append(argument)
                    .append("\r\n");
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private String command(String name, String... arguments) throws IOException {
        socket.getOutputStream().write(encoded(name, arguments));
        return reply();
    }

    /** The next reply; of a list its last element. */
    private String reply() throws IOException {
        String line = line();
        switch (line.charAt(0)) {
            case '-' -> throw new IOException(line);
            case '$' -> {
                int length = Integer.parseInt(line.substring(1));
                byte[] bytes = in.readNBytes(length + 2);
                return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
            }
            case '*' -> {
                String last = "";
                for (int i = Integer.parseInt(line.substring(1)); i > 0; i--) {
                    last = reply();
                }
                return last;
            }
            default -> {
                return line.substring(1);
            }
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\r'; c = in.read()) {
            line.append((char) c);
        }
        in.read();
        return line.toString();
    }

    static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** A script next to this class. */
    static String resource(String name) {
        try (InputStream stream = Objects.requireNonNull(ScriptCost.class.getResourceAsStream(name + ".lua"), name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        server.close();
    }
}
