package io.limiter.benchmark.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Four ways to change one state of a token bucket, with one arithmetic and one clock read: a plain lock with fields, an
 * immutable value that is swapped, the same value held by its caller as for several limits, a lock by a VarHandle that
 * spins. The total of all threads, so that a number of threads does not change what is measured.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StateChangeBenchmark {
    private static final long FULL = 1L << 50;
    private static final long PARTS = 1_000;
    private static final long RATE = 1;

    /** How the state changes. */
    @Param({"lock", "swap", "hold", "spin"})
    private String way = "lock";

    /** How many states there are. */
    @Param({"1", "100000"})
    private int keys = 1;

    private final ConcurrentHashMap<Integer, Bucket> states = new ConcurrentHashMap<>();

    /** Fills the map. */
    @Setup
    public void fill() {
        Supplier<Bucket> maker = switch (way) {
            case "swap" -> Swapped::new;
            case "hold" -> Held::new;
            case "spin" -> Spinning::new;
            default -> Locked::new;
        };
        for (int i = 0; i < keys; i++) {
            states.put(i, maker.get());
        }
    }

    /** Finds a state and takes a permit of it. */
    @Benchmark
    public long take() {
        Bucket bucket = states.get(keys == 1 ? 0 : ThreadLocalRandom.current().nextInt(keys));
        return bucket == null ? 0 : bucket.take(now());
    }

    /** The part of the clock and the search. */
    @Benchmark
    public long find() {
        Bucket bucket = states.get(keys == 1 ? 0 : ThreadLocalRandom.current().nextInt(keys));
        return bucket == null ? 0 : now();
    }

    private static long now() {
        return System.nanoTime() / 1_000;
    }

    private static long level(long credit, long from, long now) {
        return Math.min(FULL, credit + Math.max(0, now - from) * RATE);
    }

    private static long fullAt(long credit, long now) {
        return now + (FULL - credit + RATE - 1) / RATE;
    }

    /** Takes a permit at a time; returns what is left. */
    private interface Bucket {
        long take(long now);
    }

    private record Value(long credit, long from, long fullAt) {
        Value taken(long now) {
            long credit = level(this.credit, from, now) - PARTS;
            return new Value(credit, Math.max(from, now), StateChangeBenchmark.fullAt(credit, now));
        }
    }

    private static final class Locked implements Bucket {
        private long credit = FULL;
        private long from;
        private long fullAt;

        @Override
        public synchronized long take(long now) {
            credit = level(credit, from, now) - PARTS;
            from = Math.max(from, now);
            fullAt = fullAt(credit, now);
            return credit + fullAt;
        }
    }

    private static final class Swapped implements Bucket {
        private static final VarHandle VALUE = handle(Swapped.class, "value", Object.class);
        private volatile Object value = new Value(FULL, 0, 0);

        @Override
        public long take(long now) {
            while (true) {
                Value seen = (Value) value;
                Value next = seen.taken(now);
                if (VALUE.compareAndSet(this, seen, next)) {
                    return next.credit + next.fullAt;
                }
                Thread.onSpinWait();
            }
        }
    }

    private static final class Held implements Bucket {
        private record Holder(Value inner) {}

        private static final VarHandle VALUE = handle(Held.class, "value", Object.class);
        private volatile Object value = new Value(FULL, 0, 0);

        @Override
        public long take(long now) {
            int turns = 0;
            while (true) {
                if (value instanceof Value seen && VALUE.compareAndSet(this, seen, new Holder(seen))) {
                    Value next = seen.taken(now);
                    value = next;
                    return next.credit + next.fullAt;
                }
                turns = pause(turns);
            }
        }
    }

    private static final class Spinning implements Bucket {
        private static final VarHandle LOCK = handle(Spinning.class, "lock", int.class);

        @SuppressWarnings("UnusedVariable") // Read by its handle.
        private volatile int lock;

        private long credit = FULL;
        private long from;
        private long fullAt;

        @Override
        public long take(long now) {
            int turns = 0;
            while (!LOCK.compareAndSet(this, 0, 1)) {
                turns = pause(turns);
            }
            credit = level(credit, from, now) - PARTS;
            from = Math.max(from, now);
            fullAt = fullAt(credit, now);
            long answer = credit + fullAt;
            lock = 0;
            return answer;
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // It measures what the library does.
    private static int pause(int turns) {
        if (turns < 32) {
            Thread.onSpinWait();
        } else if (turns < 64) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(20_000);
        }
        return turns + 1;
    }

    private static VarHandle handle(Class<?> type, String field, Class<?> of) {
        try {
            return MethodHandles.lookup().findVarHandle(type, field, of);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
