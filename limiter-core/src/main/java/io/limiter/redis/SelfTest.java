package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.Throttle;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The test of one master when it becomes connected: every script once, as a call that takes a permit of an unused key
 * that lives for a millisecond; and its INFO. So every script is loaded before the first call, and problems are
 * reported before they affect calls. Each finding is logged when it appears and when it is resolved; that the master is
 * unreachable (RL-225) and that it has recovered (RL-226) always in pairs, and at most one pair in ten seconds, however
 * often a link flaps. Belongs to the watch thread, except that all threads may read the findings.
 */
final class SelfTest {
    private static final Logger LOG = LoggerFactory.getLogger(SelfTest.class);
    /** The reply of the script self_test: seconds, microseconds, the text of INFO. */
    private static final int REPLY_SIZE = 3;

    /** A period so short that the keys have expired when the test ends. */
    private static final Duration PERIOD = Duration.ofMillis(1);

    private static final Duration LEAST_HOLD = Duration.ofSeconds(1);

    private static final long MOST_DRIFT_MICROS = 1_000_000;
    /** Below 6.2. */
    private static final Pattern TOO_OLD = Pattern.compile("([0-5]|6\\.[01])(\\..*)?");

    /** What is wrong with a master, with places for the details. */
    private static final Map<String, String> TEXTS =
            """
            RL-203 it is a replica, which takes no calls; give the address of the master, or use sentinel or cluster mode
            RL-205 its maxmemory-policy is %s, so when its memory is full it drops what clients have used, and they get their \
            quota anew; set noeviction
            RL-206 it is version %s; the limiter is built for 6.2 or newer, of 64 bits, so calls may fail
            RL-207 it is a node of a cluster and was not addressed as one; write limiter.redis.mode = cluster
            RL-208 its clock is %s ms %s this machine's; limits still hold, but a fail-over to a server with another clock \
            shifts the time; synchronize the clocks (NTP)
            RL-210 the user may not run INFO, so version, role and memory policy were not checked; allow +info
            RL-235 other instances hash the secrets in keys with another limiter.redis.key-secret, so each has quotas of its \
            own; use the same secret in all instances
            """.lines().map(line -> line.split(" ", 2)).collect(Collectors.toMap(text -> text[0], text -> text[1]));

    /** How long the secret of an instance counts without being seen again: several checks by {@link Connection}. */
    private static final Duration SECRETS_COUNT = Duration.ofMinutes(3);

    private static final long LOG_PAUSE_MICROS = 10_000_000;
    private static final int MOST_NAMES = 20_000;

    /** The deadline of a self-test, because the first use of everything takes longer than later ones. */
    private static final long PATIENCE_MICROS = 2_000_000;

    final Transport transport;
    final Object master;
    final String name;
    private final RedisKeys keys;
    private final Throttle outagesLogged;
    /** Whether this node of a cluster lets a script use keys of several of its slots, as far as is known. */
    volatile boolean mixesSlots;
    /** Texts by code, of the last test that had an answer. */
    private volatile Map<String, String> findings = Map.of();

    private boolean unreachable;
    private boolean logged;

    /** @param time a monotonic clock, for the log */
    SelfTest(Transport transport, RedisKeys keys, Object master, TimeSource time) {
        this.transport = transport;
        this.keys = keys;
        this.master = master;
        this.name = transport.name(master);
        this.mixesSlots = transport.isDirect();
        this.outagesLogged = new Throttle(time::nowMicros, LOG_PAUSE_MICROS);
    }

    /**
     * Runs each script once on the master, and looks at what it is. Its error replies are findings.
     *
     * @return the first error of a script that decides; null if all of them ran
     * @throws BackendException if there is no answer
     */
    @Nullable
    BackendException run() {
        PartitionKey nobody = unusedKey();
        Map<String, String> found = new LinkedHashMap<>();
        BackendException first = null;
        Algorithm[] all =
                Arrays.stream(Algorithm.values()).filter(Algorithm::isQuota).toArray(Algorithm[]::new);
        List<Policy> policies = Stream.concat(Arrays.stream(all).map(SelfTest::policy), Stream.of(policy(all)))
                .toList();
        for (Policy policy : policies) {
            Object answer = ask(command(policy, nobody, Call.TAKE, PATIENCE_MICROS), found);
            first = first == null && answer instanceof BackendException error ? error : first;
        }
        Arrays.stream(all).filter(Algorithm::takesHolds).forEach(held -> ask(reservation(held, nobody), found));
        for (String mode : List.of(Call.RENEW, Call.END)) {
            ask(command(policy(Algorithm.CONCURRENT), nobody, mode, PATIENCE_MICROS), found);
        }
        Command reset = command(policy(all), nobody, Call.RESET, PATIENCE_MICROS);
        ask(reset, found);
        Command describe =
                new Command(Script.SELF_TEST, reset.keys(), List.of(), PATIENCE_MICROS, List.of(), List.of());
        if (ask(describe, found) instanceof List<?> reply && reply.size() == REPLY_SIZE) {
            found.putAll(findings(reply, Clock.systemUTC(), transport.isCluster()));
        }
        boolean isSecretOther = checksSecrets()
                && ask(secrets(), found) instanceof List<?> others
                && !List.of(0L).equals(others);
        note(found, isSecretOther, "RL-235");
        setFindings(found);
        return first;
    }

    /** Replaces the findings by those of the last test, as texts by code. */
    void setFindings(Map<String, String> found) {
        found.forEach((code, text) -> {
            if (!findings.containsKey(code)) {
                LOG.warn("{} {}: {}", code, name, text);
            }
        });
        findings.keySet().stream()
                .filter(code -> !found.containsKey(code))
                .forEach(code -> LOG.info("{} {}: resolved", code, name));
        findings = Map.copyOf(found);
    }

    /** The current findings, each as one line that begins with its code. */
    List<String> findings() {
        return findings.entrySet().stream()
                .map(finding -> finding.getKey() + " " + name + ": " + finding.getValue())
                .toList();
    }

    /** Records whether calls are sent to the master. Returns whether that is new. */
    boolean noteUnreachable(boolean isUnreachable) {
        if (unreachable == isUnreachable) {
            return false;
        }
        unreachable = isUnreachable;
        write();
        return true;
    }

    /** Writes an outage, or its end, that was held back; called periodically. */
    void write() {
        if (!unreachable && logged) {
            logged = false;
            LOG.info("RL-226 {} answers again and decides", name);
        } else if (unreachable && !logged && outagesLogged.tryPass()) {
            logged = true;
            LOG.warn(
                    "RL-225 {} does not answer; the failure modes answer at once, without waiting for it, until"
                            + " a probe succeeds",
                    name);
        }
    }

    /** It is no longer a master: others decide. */
    void end() {
        if (logged) {
            logged = false;
            LOG.info("RL-226 {} is no longer a master; others decide", name);
        }
        unreachable = false;
    }

    /** Whether this is the master where the instances compare their secrets. */
    boolean checksSecrets() {
        return keys.hash() != null && transport.master(keys.secrets()) == master;
    }

    private Command secrets() {
        String check = Objects.requireNonNull(keys.hash()).check();
        List<Object> arguments = List.of(check, Long.toString(SECRETS_COUNT.toMillis()));
        return new Command(
                Script.KEY_SECRETS, List.of(keys.secrets()), arguments, PATIENCE_MICROS, List.of(), List.of());
    }

    /** A command that finds out whether the master answers, and takes nothing. */
    Command probe(long patienceMicros) {
        return command(policy(Algorithm.FIXED_WINDOW), unusedKey(), Call.LOOK, patienceMicros);
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
        boolean isAhead = driftMicros > 0;
        long driftMillis = Math.abs(driftMicros) / 1_000;
        note(found, Math.abs(driftMicros) > MOST_DRIFT_MICROS, "RL-208", driftMillis, isAhead ? "ahead of" : "behind");
        note(found, info.isEmpty(), "RL-210");
        boolean isSmall = "32".equals(info.get("arch_bits"));
        note(found, isSmall || TOO_OLD.matcher(version).matches(), "RL-206", version + (isSmall ? " of 32 bits" : ""));
        note(found, "slave".equals(info.get("role")), "RL-203");
        note(found, "1".equals(info.get("cluster_enabled")) && !addressedAsCluster, "RL-207");
        boolean mayDrop = !"0".equals(info.getOrDefault("maxmemory", "0")) && !"noeviction".equals(memoryPolicy);
        note(found, mayDrop, "RL-205", memoryPolicy);
        return found;
    }

    private static void note(Map<String, String> found, boolean applies, String code, Object... details) {
        if (applies) {
            found.putIfAbsent(code, String.format(Objects.requireNonNull(TEXTS.get(code)), details));
        }
    }

    private static long number(Object value) {
        return value instanceof Long number ? number : 0;
    }

    /**
     * The answer of the master: a reply, or an error, which is a finding.
     *
     * @throws BackendException if there is none
     */
    private Object ask(Command command, Map<String, String> found) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        transport.run(
                master,
                command,
                (reply, failure) ->
                        answer.complete(command.replies(reply, failure).get(0)));
        Object reply = RedisFailure.await(answer, Duration.of(PATIENCE_MICROS, ChronoUnit.MICROS));
        if (!(reply instanceof Throwable error)) {
            return reply;
        }
        BackendException failure = RedisFailure.of(error);
        if (!RedisFailure.isAnswer(error)) {
            throw failure;
        }
        String[] codeAndText = String.valueOf(failure.getMessage()).split(" ", 2);
        found.putIfAbsent(
                codeAndText[0], codeAndText[1] + " (script " + command.script().name() + ")");
        return failure;
    }

    /** An unused key that is on the master. */
    private PartitionKey unusedKey() {
        Policy policy = policy(Algorithm.FIXED_WINDOW);
        return IntStream.range(0, MOST_NAMES)
                .mapToObj(i -> PartitionKey.of(Integer.toString(i)))
                .filter(key ->
                        transport.master(keys.of(policy, key, policy.limits().get(0))) == master)
                .findFirst()
                .orElseGet(() -> PartitionKey.of("0"));
    }

    private Command command(Policy policy, PartitionKey nobody, String mode, long patienceMicros) {
        return Command.of(List.of(call(policy, nobody, mode, patienceMicros)), null);
    }

    /** Reserves: a user may lack a command for that. */
    private Command reservation(Algorithm algorithm, PartitionKey nobody) {
        Call plain = call(policy(algorithm).withHolds(1), nobody, Call.TAKE, PATIENCE_MICROS);
        Held terms = new Held("0000000000000000", 1_000, 1_000, -1);
        return Command.of(List.of(new Call(terms.reserving(plain.parts), PATIENCE_MICROS, 0, 0, true)), null);
    }

    private Call call(Policy policy, PartitionKey nobody, String mode, long patienceMicros) {
        List<Call.Part> parts = Call.parts(keys, List.of(new Charge(policy, nobody, 1)), mode);
        return new Call(parts, patienceMicros, 0, 0, true);
    }

    private static Policy policy(Algorithm... algorithms) {
        return Policy.of(
                "limiter-self-test",
                Arrays.stream(algorithms)
                        .map(algorithm -> Limit.of(algorithm, 1, algorithm.isInFlight() ? LEAST_HOLD : PERIOD)
                                .withName(algorithm.text()))
                        .toArray(Limit[]::new));
    }
}
