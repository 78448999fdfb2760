package io.limiter.redis;

import io.limiter.Algorithm;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The test of each master when it becomes connected: every script once, as a call that takes a permit of an unused key
 * that lives for a millisecond; and its INFO. So every script is loaded before the first call, and problems are
 * reported before they affect calls.
 */
record SelfTest(Masters masters, RedisKeys keys) {
    /** The reply of the script self_test: seconds, microseconds, the text of INFO. */
    private static final int REPLY_SIZE = 3;

    /** A period so short that the keys have expired when the test ends. */
    private static final long PERIOD_MICROS = 1_000;

    private static final long MOST_DRIFT_MICROS = 1_000_000;
    /** Below 6.2. */
    private static final Pattern TOO_OLD = Pattern.compile("([0-5]|6\\.[01])(\\..*)?");

    /** How long the secret of an instance counts without being seen again: several checks by {@link Connection}. */
    private static final Duration SECRETS_COUNT = Duration.ofMinutes(3);

    private static final int MOST_NAMES = 20_000;

    /** The deadline of a self-test, because the first use of everything takes longer than later ones. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * The result.
     *
     * @param findings texts by code
     * @param refusal the first error of a script that decides; null if all of them ran
     */
    record Found(Map<String, String> findings, @Nullable BackendException refusal) {}

    /**
     * Runs each script once on a master, and looks at what it is.
     *
     * @throws BackendException if it does not answer; its error replies are findings
     */
    Found of(Object master) throws InterruptedException {
        PartitionKey nobody = keyOn(master);
        Map<String, String> found = new LinkedHashMap<>();
        BackendException refusal = null;
        Algorithm[] all =
                Arrays.stream(Algorithm.values()).filter(Algorithm::isQuota).toArray(Algorithm[]::new);
        List<Policy> policies = Stream.concat(Arrays.stream(all).map(SelfTest::policy), Stream.of(policy(all)))
                .toList();
        for (Policy policy : policies) {
            Object answer = ask(command(policy, nobody, Call.TAKE, PATIENCE), found);
            refusal = refusal == null && answer instanceof BackendException error ? error : refusal;
        }
        Command reset = command(policy(all), nobody, Call.RESET, PATIENCE);
        ask(reset, found);
        Command describe = new Command(Script.SELF_TEST, reset.keys(), List.of(), PATIENCE, List.of());
        if (ask(describe, found) instanceof List<?> reply && reply.size() == REPLY_SIZE) {
            found.putAll(findings(reply, Clock.systemUTC(), masters.areCluster()));
        }
        if (checksSecretsOn(master)
                && ask(secrets(), found) instanceof List<?> others
                && !List.of(0L).equals(others)) {
            found.put(
                    "RL-235",
                    "other instances hash the secrets in keys with another limiter.redis.key-secret, so each has quotas of its"
                            + " own; use the same secret in all instances");
        }
        if (masters.areCluster() && !masters.areDistinguishable()) {
            found.put(
                    "RL-231",
                    "its masters can't be distinguished, because the client wraps Redisson's own class; while"
                            + " one of them is unreachable, each of its calls waits until the deadline");
        }
        return new Found(found, refusal);
    }

    /** Whether the instances share this master. */
    boolean checksSecretsOn(Object master) {
        return keys.hash() != null && masters.of(keys.secrets()) == master;
    }

    private Command secrets() {
        String check = Objects.requireNonNull(keys.hash()).check();
        List<Object> arguments = List.of(check, Long.toString(SECRETS_COUNT.toMillis()));
        return new Command(Script.KEY_SECRETS, List.of(keys.secrets()), arguments, PATIENCE, List.of());
    }

    /** A command that finds out whether the master answers, and takes nothing. */
    Command probe(Object master, Duration patience) {
        return command(policy(Algorithm.FIXED_WINDOW), keyOn(master), Call.LOOK, patience);
    }

    /**
     * The findings about a master, by code.
     *
     * @param reply of the script self_test
     * @param clock of this machine
     * @param addressedAsCluster whether it was addressed as one of a cluster
     */
    static Map<String, String> findings(List<?> reply, Clock clock, boolean addressedAsCluster) {
        Map<String, String> info = String.valueOf(reply.get(2))
                .lines()
                .map(line -> line.split(":", 2))
                .filter(parts -> parts.length == 2)
                .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1], (one, other) -> other));
        long driftMicros = number(reply.get(0)) * 1_000_000 + number(reply.get(1)) - clock.millis() * 1_000;
        String version = info.getOrDefault("redis_version", "");
        String memoryPolicy = info.getOrDefault("maxmemory_policy", "noeviction");
        Map<String, String> found = new LinkedHashMap<>();
        if (Math.abs(driftMicros) > MOST_DRIFT_MICROS) {
            found.put(
                    "RL-208",
                    "its clock is " + Math.abs(driftMicros) / 1_000 + " ms "
                            + (driftMicros > 0 ? "ahead of" : "behind")
                            + " this machine's; limits still hold, but a fail-over to a server with another"
                            + " clock shifts the time; synchronize the clocks (NTP)");
        }
        if (info.isEmpty()) {
            found.put(
                    "RL-210",
                    "the user may not run INFO, so version, role and memory policy were not checked; allow +info");
        }
        if (TOO_OLD.matcher(version).matches()) {
            found.put(
                    "RL-206",
                    "it is version " + version + "; the limiter is built for 6.2 or newer, so calls may fail");
        }
        if ("slave".equals(info.get("role"))) {
            found.put(
                    "RL-203",
                    "it is a replica, which takes no calls; give the address of the master, or use sentinel or cluster"
                            + " mode");
        }
        if ("1".equals(info.get("cluster_enabled")) && !addressedAsCluster) {
            found.put(
                    "RL-207",
                    "it is a node of a cluster and was not addressed as one; write limiter.redis.mode = cluster");
        }
        if (!"0".equals(info.getOrDefault("maxmemory", "0"))
                && !memoryPolicy.equals("noeviction")
                && !memoryPolicy.equals("volatile-ttl")) {
            found.put(
                    "RL-205",
                    "its maxmemory-policy is " + memoryPolicy
                            + ", so when its memory is full it drops what clients have used, and they get their quota"
                            + " anew; set noeviction or volatile-ttl");
        }
        return found;
    }

    private static long number(Object value) {
        return value instanceof Long number ? number : 0;
    }

    /** The answer of the master: a reply, or an error, which is a finding. */
    private Object ask(Command command, Map<String, String> found) throws InterruptedException {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        masters.run(
                command,
                (reply, failure) ->
                        answer.complete(failure == null ? command.replies(reply).get(0) : failure));
        Object reply;
        try {
            reply = answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw RedisFailure.of(e);
        }
        if (!(reply instanceof Throwable error)) {
            return reply;
        }
        BackendException failure = RedisFailure.of(error);
        if (!RedisFailure.isAnswer(error)) {
            throw failure;
        }
        String[] message = String.valueOf(failure.getMessage()).split(" ", 2);
        found.putIfAbsent(
                message[0], message[1] + " (script " + command.script().name() + ")");
        return failure;
    }

    /** An unused key that is on the master. */
    private PartitionKey keyOn(Object master) {
        Policy policy = policy(Algorithm.FIXED_WINDOW);
        return IntStream.range(0, MOST_NAMES)
                .mapToObj(i -> PartitionKey.of(Integer.toString(i)))
                .filter(key -> masters.of(keys.of(policy, key, policy.limits().get(0))) == master)
                .findFirst()
                .orElseGet(() -> PartitionKey.of("0"));
    }

    private Command command(Policy policy, PartitionKey nobody, String mode, Duration patience) {
        List<Call.Part> parts = Call.parts(keys, List.of(new Charge(policy, nobody, 1)), mode, charge -> 0);
        return Command.of(List.of(new Call(parts, patience, 0, 0, true)), null);
    }

    private static Policy policy(Algorithm... algorithms) {
        return Policy.of(
                "limiter-self-test",
                Arrays.stream(algorithms)
                        .map(algorithm -> new Limit(algorithm.text(), algorithm, 1, PERIOD_MICROS, 1))
                        .toArray(Limit[]::new));
    }
}
