package io.limiter.benchmark.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.limiter.benchmark.Ours;
import io.limiter.benchmark.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What reservations and calls in flight cost Redis, beside takes of the same algorithm in the same run: each key is reserved and settled
 * ten times, so it has a few records, or entered and ended; a key of a take is taken from as often. A command of its own for each, and
 * commands of 20.
 */
final class HoldCost implements AutoCloseable {
    private static final int AT_ONCE = 20;
    private static final int TIMES = 10;
    private static final List<String> LIMIT = List.of("5", "1000000", "60000000", "1000000");
    private static final List<String> HOLDS = List.of("1000", "", "");
    private static final List<String> TERMS = List.of("1000", "60000000", "60000000");
    private static final List<String> FLIGHT = List.of("concurrent", "1", "20", "30000000", "20", "");
    private static final List<String> WAYS = List.of(
            "take",
            "take-of-a-policy-with-holds",
            "pair-as-reserved",
            "pair-less",
            "pair-more",
            "enter-with-a-rate-and-end");

    private final Server server = new Server();
    private final RedisClient client = RedisClient.create(server.address());
    private final StatefulRedisConnection<String, String> connection = client.connect();
    private long made;

    private HoldCost() throws IOException {}

    /** Rows of each algorithm, with the median over the rounds of the CPU time of redis-server, and of its ratio to a take. */
    static void run(List<String> algorithms, int rounds, int calls, Table table) throws IOException {
        try (HoldCost cost = new HoldCost()) {
            for (String algorithm : algorithms) {
                for (boolean inBatches : new boolean[] {false, true}) {
                    cost.measure(algorithm, inBatches, rounds, calls, table);
                }
            }
        }
    }

    private void measure(String algorithm, boolean inBatches, int rounds, int calls, Table table) throws IOException {
        String plain = connection.sync().scriptLoad(Ours.script(inBatches ? "batch" : algorithm));
        String held = inBatches || !isPossible(algorithm, "pair")
                ? plain
                : connection.sync().scriptLoad(Ours.script(algorithm + "_holds"));
        double[][] micros = new double[WAYS.size()][rounds];
        for (int round = -1; round < rounds; round++) {
            for (int way = 0; way < WAYS.size(); way++) {
                if (!isPossible(algorithm, WAYS.get(way))) {
                    continue;
                }
                connection.sync().flushall();
                double before = server.usage().cpuMicros();
                int done = 0;
                for (; done < calls; done += AT_ONCE * TIMES) {
                    String sha = WAYS.get(way).matches("take|enter.*") ? plain : held;
                    group(sha, ScriptCost.name(algorithm), inBatches, WAYS.get(way));
                }
                if (round >= 0) {
                    micros[way][round] = (server.usage().cpuMicros() - before) / done;
                }
            }
        }
        for (int way = 0; way < WAYS.size(); way++) {
            if (!isPossible(algorithm, WAYS.get(way))) {
                continue;
            }
            double[] own = micros[way];
            double[] takes = micros[0];
            double ratio = ScriptCost.median(IntStream.range(0, rounds).mapToDouble(i -> own[i] / takes[i]));
            double median = ScriptCost.median(Arrays.stream(own));
            table.row(
                    algorithm + " " + WAYS.get(way),
                    inBatches ? "commands-of-20" : "a-command-each",
                    "20 keys",
                    new double[] {median, ratio});
        }
    }

    /** A log holds nothing. */
    private static boolean isPossible(String algorithm, String way) {
        return !algorithm.startsWith("sliding") || way.equals("take") || way.startsWith("enter");
    }

    /** Some new keys, each of them ten times. */
    private void group(String sha, String name, boolean inBatches, String way) {
        long first = made;
        made += AT_ONCE;
        List<String> keys = IntStream.range(0, AT_ONCE)
                .mapToObj(i -> "limiter:{" + (first + i) + "}")
                .toList();
        if (way.startsWith("enter")) {
            flights(sha, name, inBatches, keys);
            return;
        }
        boolean isPair = way.startsWith("pair");
        String actual = way.endsWith("less") ? "2" : way.endsWith("more") ? "9" : "5";
        List<String> terms = isPair ? TERMS : way.equals("take") ? List.of() : HOLDS;
        for (int time = 0; time < TIMES; time++) {
            List<List<String>> own = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                own.add(isPair ? List.of(id()) : List.of());
            }
            List<Long> ends = ask(sha, name, inBatches, keys, terms, own);
            if (isPair) {
                List<List<String>> settled = new ArrayList<>();
                for (int i = 0; i < AT_ONCE; i++) {
                    settled.add(List.of(own.get(i).get(0), Long.toHexString(ends.get(i)), actual));
                }
                ask(sha, name, inBatches, keys, terms, settled);
            }
        }
    }

    /** Calls that begin with a limit of calls in flight and a rate, and end. */
    private void flights(String sha, String name, boolean inBatches, List<String> keys) {
        String batch = inBatches ? sha : connection.sync().scriptLoad(Ours.script("batch"));
        List<String> ids = new ArrayList<>();
        for (int time = 0; time < 2 * TIMES; time++) {
            List<String> arguments = new ArrayList<>(FLIGHT);
            List<String> states = new ArrayList<>();
            boolean ends = time % 2 == 1;
            if (!ends) {
                ids = Stream.generate(HoldCost::id).limit(AT_ONCE).toList();
            }
            arguments.addAll(ends ? List.of("back:0", "", "") : List.of("", "", "", name));
            if (!ends) {
                arguments.addAll(LIMIT);
                arguments.addAll(List.of("", "", "", ""));
            }
            arguments.add(0, ends ? "-1" : "-2");
            arguments.addAll(0, List.of("", "1"));
            int size = arguments.size();
            for (int i = 0; i < AT_ONCE; i++) {
                states.add(keys.get(i) + ":concurrent");
                if (!ends) {
                    states.add(keys.get(i));
                }
                arguments.add(ids.get(i));
            }
            List<RedisFuture<List<Object>>> replies = new ArrayList<>();
            connection.setAutoFlushCommands(false);
            for (int i = 0; i < AT_ONCE; i += inBatches ? AT_ONCE : 1) {
                int of = states.size() / AT_ONCE;
                List<String> own = new ArrayList<>(arguments.subList(0, size));
                own.addAll(arguments.subList(size + i, inBatches ? arguments.size() : size + i + 1));
                replies.add(connection
                        .async()
                        .evalsha(
                                batch,
                                ScriptOutputType.MULTI,
                                states.subList(of * i, inBatches ? states.size() : of * i + of)
                                        .toArray(String[]::new),
                                own.toArray(String[]::new)));
            }
            connection.flushCommands();
            connection.setAutoFlushCommands(true);
            replies.forEach(reply -> reply.toCompletableFuture().join());
        }
    }

    /** Random, as they are: numbers in a row make texts that Lua's hash does not tell apart. */
    private static String id() {
        return String.format(Locale.ROOT, "%016x", ThreadLocalRandom.current().nextLong());
    }

    /**
     * The last number of each reply.
     *
     * @param terms of a limit with holds: what it has beyond one without
     * @param own of each key: nothing, or of a reservation the id, or of a settlement also the window and the actual permits
     */
    private List<Long> ask(
            String sha, String name, boolean inBatches, List<String> keys, List<String> terms, List<List<String>> own) {
        boolean isHeld = !terms.isEmpty();
        boolean isSettlement = own.get(0).size() > 1;
        List<String> form = new ArrayList<>();
        if (inBatches) {
            form.addAll(List.of("", "1", isHeld ? "-1" : "1", name + (isHeld ? "+holds" : "")));
        }
        form.addAll(LIMIT);
        if (inBatches && isHeld) {
            form.addAll(List.of("", isSettlement ? "back:" : "", "", ""));
            form.addAll(terms);
        }
        connection.setAutoFlushCommands(false);
        List<RedisFuture<List<Object>>> replies = new ArrayList<>();
        int together = inBatches ? AT_ONCE : 1;
        for (int from = 0; from < AT_ONCE; from += together) {
            List<String> arguments = new ArrayList<>(form);
            if (isHeld && !inBatches) {
                List<String> one = own.get(from);
                String mode = isSettlement ? "back:" + Long.parseLong(one.get(1), 16) : "";
                arguments.addAll(
                        List.of("", one.isEmpty() ? "" : one.get(0), mode, isSettlement ? one.get(2) : "", ""));
                arguments.addAll(terms);
            } else {
                own.subList(from, from + together).forEach(arguments::addAll);
            }
            String[] states = keys.subList(from, from + together).stream()
                    .flatMap(key -> isHeld ? Stream.of(key, key + ":holds") : Stream.of(key))
                    .toArray(String[]::new);
            replies.add(
                    connection.async().evalsha(sha, ScriptOutputType.MULTI, states, arguments.toArray(String[]::new)));
        }
        connection.flushCommands();
        connection.setAutoFlushCommands(true);
        List<Long> last = new ArrayList<>();
        for (RedisFuture<List<Object>> future : replies) {
            List<Object> reply = future.toCompletableFuture().join();
            int size = reply.size() / together;
            for (int i = 1; i <= together; i++) {
                last.add((Long) reply.get(size * i - 1));
            }
        }
        return last;
    }

    @Override
    public void close() throws IOException {
        connection.close();
        client.shutdown();
        server.close();
    }
}
