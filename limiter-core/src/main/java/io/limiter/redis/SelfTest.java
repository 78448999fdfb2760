package io.limiter.redis;

import io.limiter.Algorithm;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is tried on each master when a connection to it comes up: every script once, as a call that takes a permit of a key
 * that nobody has and that lives for a millisecond; and what its INFO says. So the first caller finds every script loaded,
 * and what is wrong is told before callers meet it.
 */
final class SelfTest {
    /** Of the script self_test. */
    static final int REPLY_SIZE = 3;

    /** A permit in so short a time that the keys are gone when the test is. */
    private static final long PERIOD_MICROS = 1_000;

    private static final long MOST_DRIFT_MICROS = 1_000_000;
    private static final int OLDEST_MAJOR = 6;
    private static final int OLDEST_MINOR = 2;
    private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\b.*");
    private static final int MOST_NAMES = 20_000;

    /** Of a self-test: the first use of everything takes longer than any later one. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final Masters masters;
    private final Evaluator evaluator;
    private final RedisKeys keys;
    private final Clock clock;

    SelfTest(Masters masters, Evaluator evaluator, RedisKeys keys, Clock clock) {
        this.masters = masters;
        this.evaluator = evaluator;
        this.keys = keys;
        this.clock = clock;
    }

    /**
     * What was found.
     *
     * @param findings texts by code
     * @param refusal the first error that a script which decides got; null when all of them ran
     */
    record Found(Map<String, String> findings, @Nullable BackendException refusal) {}

    /**
     * Runs each script once on a master, and looks at what it is.
     *
     * @throws BackendException if it does not answer; errors that it replies are findings
     */
    Found of(Object master) throws InterruptedException {
        PartitionKey nobody = keyOn(master, masters, keys);
        Map<String, String> found = new LinkedHashMap<>();
        BackendException refusal = null;
        for (Call call : calls(keys, nobody)) {
            BackendException error = ask(call, found);
            refusal = refusal == null ? error : refusal;
        }
        List<Object> names = List.of(name(keys, nobody));
        ask(Script.RESET, names, new Object[0], found);
        List<Object> reply = ask(Script.SELF_TEST, names, new Object[0], found);
        if (reply.size() == REPLY_SIZE) {
            found.putAll(findings(reply, clock, masters.areCluster()));
        }
        if (masters.areCluster() && !masters.areToldApart()) {
            found.put(
                    "RL-231",
                    "its masters can't be told apart, because the client is not Redisson's own class but wraps it; so one"
                            + " that is away keeps its callers waiting for the deadline each time");
        }
        return new Found(found, refusal);
    }

    /** A key of nobody's that lies on the master. */
    static PartitionKey keyOn(Object master, Masters masters, RedisKeys keys) {
        Policy policy = policy(Algorithm.FIXED_WINDOW);
        PartitionKey key = PartitionKey.of("0");
        for (int i = 1;
                i < MOST_NAMES
                        && masters.of(keys.of(policy, key, policy.limits().get(0))) != master;
                i++) {
            key = PartitionKey.of(Integer.toString(i));
        }
        return key;
    }

    /** Each script once. */
    static List<Call> calls(RedisKeys keys, PartitionKey nobody) {
        List<Call> calls = new ArrayList<>();
        for (Algorithm algorithm : Algorithm.values()) {
            calls.add(new Call(keys).add(new Charge(policy(algorithm), nobody, 1), Call.TAKE));
        }
        calls.add(new Call(keys).add(new Charge(policy(Algorithm.values()), nobody, 1), Call.TAKE));
        return calls;
    }

    /** A call that finds out whether the master answers, and takes nothing. */
    static Call probe(RedisKeys keys, PartitionKey nobody) {
        return new Call(keys).add(new Charge(policy(Algorithm.FIXED_WINDOW), nobody, 1), Call.LOOK);
    }

    /** The name of a state of nobody's. */
    static String name(RedisKeys keys, PartitionKey nobody) {
        Policy policy = policy(Algorithm.FIXED_WINDOW);
        return keys.of(policy, nobody, policy.limits().get(0));
    }

    /**
     * What is to be said of a master, by code.
     *
     * @param reply of the script self_test
     * @param clock of this machine
     * @param cluster whether it was addressed as one of a cluster
     */
    static Map<String, String> findings(List<?> reply, Clock clock, boolean cluster) {
        Map<String, String> findings = new LinkedHashMap<>();
        long serverMicros = number(reply.get(0)) * 1_000_000 + number(reply.get(1));
        long driftMicros = serverMicros - clock.millis() * 1_000;
        if (Math.abs(driftMicros) > MOST_DRIFT_MICROS) {
            findings.put(
                    "RL-208",
                    "its clock is " + Math.abs(driftMicros) / 1_000 + " ms " + (driftMicros > 0 ? "ahead of" : "behind")
                            + " this machine's; limits hold all the same, but a fail-over to a server with another clock"
                            + " moves the time: keep them in step (NTP)");
        }
        Map<String, String> info = info(String.valueOf(reply.get(2)));
        if (info.isEmpty()) {
            findings.put(
                    "RL-210",
                    "the user may not run INFO, so version, role and memory policy were not looked at; allow +info");
            return findings;
        }
        addOfInfo(findings, info, cluster);
        return findings;
    }

    private static void addOfInfo(Map<String, String> findings, Map<String, String> info, boolean cluster) {
        String version = info.getOrDefault("redis_version", "");
        Matcher numbers = VERSION.matcher(version);
        if (numbers.matches()) {
            int major = Integer.parseInt(numbers.group(1));
            int minor = Integer.parseInt(numbers.group(2));
            if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
                findings.put(
                        "RL-206",
                        "it is version " + version + "; the limiter is built for " + OLDEST_MAJOR + "." + OLDEST_MINOR
                                + " or newer, so calls may fail");
            }
        }
        if (info.getOrDefault("role", "").equals("slave")) {
            findings.put(
                    "RL-203",
                    "it is a replica, which takes no calls; give the address of the master, or use sentinel or cluster"
                            + " mode");
        }
        boolean isCluster = info.getOrDefault("cluster_enabled", "0").equals("1");
        if (isCluster && !cluster) {
            findings.put(
                    "RL-207",
                    "it is a node of a cluster and was not addressed as one; write limiter.redis.mode = cluster");
        }
        String eviction = info.getOrDefault("maxmemory_policy", "");
        if (!info.getOrDefault("maxmemory", "0").equals("0")
                && !eviction.isEmpty()
                && !eviction.equals("noeviction")
                && !eviction.equals("volatile-ttl")) {
            findings.put(
                    "RL-205",
                    "its maxmemory-policy is " + eviction + ", so when its memory is full it drops what clients have"
                            + " used, and they get their quota anew; set noeviction or volatile-ttl");
        }
    }

    /** The lines {@code name:value} of INFO. */
    private static Map<String, String> info(String text) {
        Map<String, String> info = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                info.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        return info;
    }

    private static long number(Object value) {
        return value instanceof Long number ? number : 0;
    }

    /** What a script that decides got for an answer: null when it decided. */
    private @Nullable BackendException ask(Call call, Map<String, String> found) throws InterruptedException {
        Map<String, String> errors = new LinkedHashMap<>();
        List<Object> reply = ask(call.script(), call.keys(), call.arguments(null), errors);
        try {
            if (errors.isEmpty()) {
                call.outcomes(reply);
                return null;
            }
        } catch (BackendException error) {
            add(errors, error, call.script());
        }
        errors.forEach(found::putIfAbsent);
        Map.Entry<String, String> first = errors.entrySet().iterator().next();
        return new BackendException(first.getKey() + " " + first.getValue());
    }

    /** The reply; nothing when it is an error, which is a finding. */
    private List<Object> ask(Script script, List<Object> names, Object[] arguments, Map<String, String> found)
            throws InterruptedException {
        try {
            return evaluator
                    .run(Waiter.ofNobody(PATIENCE), script, names, arguments)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            BackendException failure = RedisFailure.of(e);
            if (!RedisFailure.isAnswer(e)) {
                throw failure;
            }
            add(found, failure, script);
            return List.of();
        }
    }

    private static void add(Map<String, String> found, BackendException error, Script script) {
        String message = String.valueOf(error.getMessage());
        int space = message.indexOf(' ');
        found.putIfAbsent(
                message.substring(0, space), message.substring(space + 1) + " (script " + script.name() + ")");
    }

    private static Policy policy(Algorithm... algorithms) {
        return Policy.of(
                "limiter-self-test",
                Arrays.stream(algorithms)
                        .map(algorithm -> new Limit(algorithm.text(), algorithm, 1, PERIOD_MICROS, 1))
                        .toArray(Limit[]::new));
    }
}
