package io.limiter.faults;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.kit.AnyAlgorithm;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** Blocking callers, spread over the instances, each of which asks again some milliseconds after its last answer. */
final class Load {
    static final int CALLERS = 32;
    static final int INSTANCES = 2;
    /** Of a narrow key. */
    static final int NARROW_LIMIT = 50;
    /** What all instances together may admit of a narrow key by their shares. */
    static final int NARROW_SHARES = INSTANCES * (NARROW_LIMIT / INSTANCES);

    /** The number of denials that block a key. */
    static final int DENIALS = 5;

    /** Where no month begins during the test. */
    private static final String ZONE = LocalTime.now(ZoneOffset.UTC).getHour() < 20 ? "UTC" : "Asia/Tokyo";

    private static final List<String> LIMITS = List.of(
            "365d fixed",
            "365d sliding-list",
            "365d sliding-zset",
            "365d token-bucket",
            "365d distinct",
            "1month fixed aligned " + ZONE);
    private static final int ONCE_POLICIES = LIMITS.size() + 1;
    /** Of a narrow key, each of which asks several times; half of them get in. */
    private static final int MEMBERS = 2 * NARROW_LIMIT;
    /** Without the bucket, which gives back while the test runs. */
    private static final int HOT_POLICIES = 3;

    private static final int AGAIN_ONE_OF = 16;
    private static final long PAUSE_NANOS = 5_000_000;
    private static final long HOT_SLICE_NANOS = 100_000_000;
    private static final long NARROW_SLICE_NANOS = 400_000_000;
    private static final long JOIN_MILLIS = 60_000;

    private final long start = System.nanoTime();
    private final List<Thread> threads = new ArrayList<>();
    private final List<List<Call>> calls = new ArrayList<>();
    private final LongAdder answered = new LongAdder();
    private final LongAdder byRedis = new LongAdder();
    private volatile boolean over;

    /** Begins to ask. */
    Load(List<Limiter> instances) {
        for (int i = 0; i < CALLERS; i++) {
            int caller = i;
            List<Call> mine = new ArrayList<>();
            calls.add(mine);
            Limiter own = instances.get(caller % instances.size());
            Resets resets = new Resets(own, instances.get((caller + 1) % instances.size()));
            Thread thread = new Thread(() -> run(own, resets, caller, mine));
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    /** The policies, as properties text. Their limits do not refill while the suite runs, so each permit is seen. */
    static String policies(FailureMode mode) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < LIMITS.size(); i++) {
            policy(text, "once-" + i, "9/" + LIMITS.get(i), mode);
            policy(text, "narrow-" + i, NARROW_LIMIT + "/" + LIMITS.get(i), mode);
        }
        policy(text, "once-" + LIMITS.size(), "9/365d fixed, 9/300d sliding-list", mode);
        policy(text, "again", "1/365d fixed", mode);
        for (int i = 0; i < HOT_POLICIES; i++) {
            policy(text, "hot-" + i, "10000/" + LIMITS.get(i), mode);
        }
        policy(text, "blocked", "1/20ms fixed", mode);
        text.append("limiter.policies.blocked.block = ").append(DENIALS).append("/1h for 1h up to 1h\n");
        return text.toString();
    }

    private static void policy(StringBuilder text, String name, String limits, FailureMode mode) {
        String key = "limiter.policies." + name;
        text.append(key).append(".limits = ").append(limits).append('\n');
        text.append(key).append(".on-failure = ").append(mode.text()).append('\n');
    }

    long answered() {
        return answered.sum();
    }

    long byRedis() {
        return byRedis.sum();
    }

    /** Ends it. All calls, whatever came of them. */
    List<Call> stop() throws InterruptedException {
        over = true;
        List<Call> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            Thread thread = threads.get(i);
            thread.join(JOIN_MILLIS);
            if (thread.isAlive()) {
                throw new AssertionError(
                        "a call hangs for more than " + JOIN_MILLIS + " ms: " + List.of(thread.getStackTrace()));
            }
            all.addAll(calls.get(i));
        }
        return all;
    }

    private void run(Limiter limiter, Resets resets, int caller, List<Call> mine) {
        for (int i = 0; !over; i++) {
            Charge reset = i % AGAIN_ONE_OF == 0 ? resets.next("caller" + caller + "-" + i) : null;
            Call call = reset == null ? ask(limiter, caller, i) : ask(limiter, Call.Kind.AGAIN, List.of(reset));
            mine.add(call);
            answered.increment();
            if (call.isByRedis()) {
                byRedis.increment();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private Call ask(Limiter limiter, int caller, int i) {
        Call.Kind kind = switch (i % 8) {
            case 0, 1, 2 -> Call.Kind.ONCE;
            case 3 -> Call.Kind.BLOCKED;
            case 4 -> Call.Kind.PAIR;
            case 5, 6 -> Call.Kind.HOT;
            default -> Call.Kind.NARROW;
        };
        return ask(limiter, kind, charges(limiter, kind, caller, i, System.nanoTime() - start));
    }

    private static Call ask(Limiter limiter, Call.Kind kind, List<Charge> charges) {
        long begin = System.nanoTime();
        try {
            Decision decision = limiter.rateLimiter().tryAcquire(PermitRequest.of(charges));
            return new Call(kind, charges, begin, System.nanoTime() - begin, decision, null);
        } catch (Throwable anyAtAll) {
            return new Call(kind, charges, begin, System.nanoTime() - begin, null, anyAtAll);
        }
    }

    private static List<Charge> charges(Limiter limiter, Call.Kind kind, int caller, int i, long sinceNanos) {
        String own = "caller" + caller + "-" + i;
        long hot = sinceNanos / HOT_SLICE_NANOS;
        long narrow = sinceNanos / NARROW_SLICE_NANOS;
        return switch (kind) {
            case ONCE -> List.of(charge(limiter, "once-" + (i + caller) % ONCE_POLICIES, own, 1 + i % 3));
            case PAIR ->
                List.of(
                        charge(limiter, "once-" + caller % ONCE_POLICIES, own, 1),
                        charge(limiter, "once-" + (caller + 1) % ONCE_POLICIES, own, 2));
            case HOT -> List.of(charge(limiter, "hot-" + hot % HOT_POLICIES, "slice" + hot, 1 + i % 2));
            case NARROW -> List.of(narrow(limiter, (int) (narrow % LIMITS.size()), "slice" + narrow, caller * 7 + i));
            case BLOCKED -> List.of(charge(limiter, "blocked", "slice" + narrow, 1));
            case AGAIN -> throw new IllegalArgumentException("these have been asked for before");
        };
    }

    private static Charge narrow(Limiter limiter, int limit, String client, int member) {
        Policy policy = limiter.policy("narrow-" + limit);
        return policy.takesMembers()
                ? new Charge(policy, PartitionKey.of(client), 1, null, PartitionKey.of("m" + member % MEMBERS))
                : new Charge(policy, PartitionKey.of(client), 1);
    }

    static Charge charge(Limiter limiter, String policy, String client, long permits) {
        return AnyAlgorithm.charge(limiter.policy(policy), PartitionKey.of(client), permits);
    }
}
