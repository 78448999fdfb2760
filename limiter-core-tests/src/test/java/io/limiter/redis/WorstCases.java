package io.limiter.redis;

import io.limiter.internal.Algorithm;
import io.limiter.kit.RedisServers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.RestoreParams;
import redis.embedded.RedisServer;

/** The largest states that limits allow, and the calls to them that cost Redis most. */
final class WorstCases implements AutoCloseable {
    static final long MOST = 10_000;
    /** The first time of all states. */
    static final long START = 1_800_000_000_000_000L;

    static final long PERIOD = 900_000_000;

    /** Rare, and not by what a client does. */
    static final String STEPPED = "the clock has stepped back";

    private static final int REPEATS = 9;
    private static final String KEY = "worst:{case}";
    private static final List<String> KEYS = List.of(KEY, KEY + ":holds");

    private static final long HOLD = 60_000_000;
    private static final String EACH = "10000";

    /** A call to a state, and what it cost. */
    record Case(Algorithm algorithm, String state, String call, long permits, double micros) {
        @Override
        public String toString() {
            return String.format("| %s | %s | %s | %.0f µs |", algorithm.text(), state, call, micros);
        }
    }

    /** Of its own: what the server did is counted. */
    private final RedisServer server = RedisServers.startAnywhere();

    private final Jedis redis = RedisServers.jedis(server.ports().get(0));
    private final List<Case> cases = new ArrayList<>();
    /** Of the state that was made last. */
    private Algorithm algorithm = Algorithm.FIXED_WINDOW;

    private String sha = "";
    private byte @Nullable [] state;
    private byte @Nullable [] records;
    private long made;

    @Override
    public void close() {
        redis.close();
        RedisServers.stop(server);
    }

    List<Case> all() {
        logs(Algorithm.SLIDING_LIST);
        logs(Algorithm.SLIDING_ZSET);
        distinct();
        small();
        flights();
        stocks();
        holds();
        return cases;
    }

    /** All but one of its holds, those of so many members, have run out. */
    void stockOf(int holds, int members) {
        make(Algorithm.ALLOTMENT, holds, i -> order(1, START + i * 1000, i % members));
    }

    long commandsOfALook() {
        return commandsOf(look(START + PERIOD + latest()));
    }

    long commandsOfATake() {
        return commandsOf(order(1, START + PERIOD + latest(), MOST));
    }

    /** All but one of its permits have expired. */
    void logOf(int permits) {
        make(Algorithm.SLIDING_ZSET, permits, i -> call(1, START + i, "", "", "", ""));
    }

    long expiredAfterATake(Algorithm algorithm) {
        long now = START + made - 2 + PERIOD;
        redis.eval(Script.alone(algorithm).text(), KEYS, call(1, now, "", "", "", ""));
        return redis.zcount(KEY, 0, now - PERIOD);
    }

    /** The time of the last hold but one. */
    private long latest() {
        return (made - 2) * 1000;
    }

    private long commandsOf(List<String> arguments) {
        redis.configResetStat();
        redis.eval(Script.alone(Algorithm.ALLOTMENT).text(), KEYS, arguments);
        return redis.info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_") && !line.contains("eval") && !line.contains("config"))
                .mapToLong(line -> Long.parseLong(line.replaceAll(".*:calls=(\\d+).*", "$1")))
                .sum();
    }

    private void small() {
        for (Algorithm algorithm : List.of(Algorithm.FIXED_WINDOW, Algorithm.TOKEN_BUCKET, Algorithm.BLOCK)) {
            String options = algorithm == Algorithm.BLOCK ? "denied=1" : "";
            make(algorithm, 1, i -> call(1, START, "", "", "", options));
            measure("any", "take", 1, call(1, START + 5, "", "", "", options));
            if (algorithm == Algorithm.TOKEN_BUCKET) {
                List<String> other = new ArrayList<>(call(1, START + 5, "", "", "", ""));
                other.set(1, "7777");
                other.set(2, "86399999999");
                measure("of another limit", "take", 1, other);
            }
        }
    }

    private void logs(Algorithm algorithm) {
        boolean keepsIds = algorithm == Algorithm.SLIDING_ZSET;
        make(algorithm, MOST, i -> call(1, START + i, keepsIds ? "id" + i : "", "", "", ""));
        long end = START + MOST + PERIOD;
        measure("full", "deny", 1, call(1, START + MOST, "", "", "", ""));
        measure("full", "look", 1, call(1, START + MOST, "", "look", "", ""));
        for (long i : List.of(0L, MOST / 2, MOST - 1)) {
            String id = keepsIds ? "id" + i : "";
            measure("full", "refund of permit " + i, 1, call(1, START + MOST, id, "back:" + (START + i), "", ""));
        }
        measure("full", "deny, " + STEPPED, MOST, call(1, START - 5, "", "", "", ""));
        measure("half expired", "take", 1, call(1, START + MOST / 2 + PERIOD, "", "", "", ""));
        measure("half expired", "look", 1, call(1, START + MOST / 2 + PERIOD, "", "look", "", ""));
        measure("all expired", "take", 1, call(1, end, "", "", "", ""));
        measure("all expired", "look", 1, call(1, end, "", "look", "", ""));
        measure("all expired", "take 10 000", MOST, call(MOST, end, "", "", "", ""));
        measure("all but one expired", "take", 1, call(1, end - 2, "", "", "", ""));
    }

    private void flights() {
        make(Algorithm.CONCURRENT, MOST, i -> call(1, START + i, "call" + i, "", "", ""));
        measure("full", "deny", 1, call(1, START + MOST, "another", "", "", ""));
        measure("full", "end", 1, call(1, START + MOST, "call5", "back:0", "", ""));
        measure("full", "renew", 1, call(1, START + MOST, "call5", "back:0", "renew", ""));
        long last = START + MOST - 2 + PERIOD;
        measure("all but one run out", "take", 1, call(1, last, "another", "", "", ""));
        measure("all but one run out", "look", 1, call(1, last, "another", "look", "", ""));
        measure("all run out", "take 10 000", MOST, call(MOST, last + 1, "another", "", "", ""));
    }

    private void distinct() {
        make(Algorithm.DISTINCT, MOST, i -> call(1, START + i, "path.account=user" + i, "", "", ""));
        measure("full", "deny", 1, call(1, START + MOST, "another", "", "", ""));
        measure("full", "take, known", 1, call(1, START + MOST, "path.account=user5", "", "", ""));
        String back = "back:" + (START + 5);
        measure("full", "refund", 1, call(1, START + MOST, "path.account=user5", back, "", ""));
        measure("all expired", "take", 1, call(1, START + PERIOD + MOST, "another", "", "", ""));
        measure("all expired", "look", 1, call(1, START + PERIOD + MOST, "another", "look", "", ""));
    }

    /** Reservations, a hundred in each microsecond. */
    private void holds() {
        for (Algorithm algorithm : Algorithm.values()) {
            if (!algorithm.takesHolds()) {
                continue;
            }
            Script script = Script.alone(algorithm, true);
            make(algorithm, script, MOST - 2, i -> held(START + i / 100 * 100, id(i), "", ""));
            long later = START + HOLD + MOST;
            String state = "10 000 reservations, run out";
            measure(state, "take", 1, held(later, "", "", ""));
            measure(state, "look", 1, held(later, "", "look", ""));
            measure(state, "reserve", 1, held(later, id(MOST), "", ""));
            String mode = "back:" + (algorithm == Algorithm.TOKEN_BUCKET ? 0 : START + PERIOD);
            measure(state, "settle", 1, held(later, id(5), mode, "2"));
        }
    }

    private static String id(long i) {
        return String.format("%016x", i);
    }

    /** The arguments of a script for a policy with holds; of a reservation or settlement with an id. */
    private static List<String> held(long now, String id, String mode, String actual) {
        List<String> arguments = call(1, now, id, mode, actual, "");
        arguments.addAll(List.of(EACH, id.isEmpty() ? "" : "" + HOLD, id.isEmpty() ? "" : "" + PERIOD));
        return arguments;
    }

    private void stocks() {
        for (long members : List.of(MOST, 1L)) {
            make(Algorithm.ALLOTMENT, MOST, i -> order(1, START + i * 1000, i % members));
            stock("10 000 on hold by " + members, START + MOST * 1000);
        }
        make(Algorithm.ALLOTMENT, 1, i -> order(1, START, i));
        measure("one on hold", "take 9 999", MOST - 1, order(MOST - 1, START + 1, MOST));
        make(Algorithm.ALLOTMENT, 2, i -> order(i == 0 ? MOST - 1 : 1, START + i * 1000, i));
        measure("9 999 by one call", "return them", MOST - 1, end(START + 2_000, 0, ""));
        measure("9 999 by one call, run out", "take", 1, order(1, START + PERIOD, MOST));
    }

    private void stock(String name, long now) {
        List<String> more = order(1, now, MOST);
        more.set(1, "10001");
        measure(name, "take", 1, more);
        measure(name, "deny", 1, order(1, now, MOST));
        measure(name, "look", 1, look(now));
        measure(name, "return", 1, end(now, 4_999, ""));
        measure(name, "confirm", 1, end(now, 4_999, ",keep"));
        List<String> lowered = look(now);
        lowered.set(1, "5000");
        measure(name, "look at a lowered limit", 1, lowered);
        long later = START + 9_998 * 1000 + PERIOD;
        measure(name + ", all but one expired", "take", 1, order(1, later, MOST));
        measure(name + ", all but one expired", "look", 1, look(later));
        measure(name + ", all but one expired", "confirm", 1, end(later, 9_999, ",keep"));
        measure(name + ", all expired", "take", 1, order(1, later + 1_000, MOST));
        measure(name + ", all expired", "look", 1, look(later + 1_000));
        measure(name + ", over", "take", 1, order(1, START * 2, MOST));
    }

    private static List<String> order(long n, long now, long member) {
        return call(n, now, "user" + member, "", "order-" + now + member, "opens=0,closes=" + START * 3 / 2);
    }

    private static List<String> look(long now) {
        return call(1, now, "nobody", "look", "", "opens=0,closes=" + START * 3 / 2);
    }

    private List<String> end(long now, long i, String keep) {
        String stamp = Long.toString(START + i * 1000);
        String purchase = redis.hget(KEY, stamp);
        String member = purchase.split(" ")[2];
        return call(1, now, member, "back:" + stamp, "", "opens=0,closes=" + START * 3 / 2 + keep);
    }

    private interface Calls {
        List<String> of(long i);
    }

    private void make(Algorithm of, long count, Calls calls) {
        make(of, Script.alone(of), count, calls);
    }

    private void make(Algorithm of, Script script, long count, Calls calls) {
        algorithm = of;
        sha = redis.scriptLoad(script.text());
        made = count;
        redis.del(KEYS.get(0), KEYS.get(1));
        Pipeline pipeline = redis.pipelined();
        List<Response<Object>> replies = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            replies.add(pipeline.evalsha(sha, KEYS, calls.of(i)));
        }
        pipeline.sync();
        replies.forEach(reply -> {
            if (!(reply.get() instanceof List<?> numbers) || !numbers.get(0).equals(1L)) {
                throw new AssertionError("denied: " + reply.get());
            }
        });
        state = redis.dump(KEY);
        records = redis.dump(KEYS.get(1));
    }

    private void restore() {
        redis.del(KEYS.get(0), KEYS.get(1));
        if (state != null) {
            redis.restore(KEY, 0, state, RestoreParams.restoreParams());
        }
        if (records != null) {
            redis.restore(KEYS.get(1), 0, records, RestoreParams.restoreParams());
        }
    }

    private void measure(String name, String call, long permits, List<String> arguments) {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < REPEATS; i++) {
            restore();
            redis.configResetStat();
            redis.evalsha(sha, KEYS, arguments);
            String stats = redis.info("commandstats");
            least = Math.min(
                    least, Double.parseDouble(stats.replaceAll("(?s).*cmdstat_evalsha:calls=1,usec=(\\d+).*", "$1")));
        }
        cases.add(new Case(algorithm, name, call, permits, least));
        restore();
    }

    private static List<String> call(long n, long now, String id, String mode, String request, String options) {
        return new ArrayList<>(List.of(
                Long.toString(n), EACH, Long.toString(PERIOD), EACH, Long.toString(now), id, mode, request, options));
    }
}
