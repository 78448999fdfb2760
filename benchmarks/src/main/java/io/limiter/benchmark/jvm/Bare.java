package io.limiter.benchmark.jvm;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Floors: the minimum cost of a decision. The state of a fixed window or a token bucket that is
 * changed by compare-and-set and answers one number: the permits that remain, or the nanoseconds to wait as a negative one.
 */
final class Bare {
    private static final long PERIOD_ALLOWED = 1_000_000_000L;
    private static final long PERIOD_DENIED = 86_400_000_000_000L;

    /** Returns what remains, or for how long nothing does. */
    private interface Decider {
        long decide(long now);
    }

    private Bare() {}

    /** Null if no floor has that name. */
    static @Nullable Contender of(String name, boolean allowed, boolean manyKeys) {
        long permits = allowed ? 1_000_000_000 : 100;
        long period = allowed ? PERIOD_ALLOWED : PERIOD_DENIED;
        return switch (name) {
            case "clock" -> (key, sink) -> sink.consume(System.nanoTime());
            case "handover" -> new HandOver();
            case "cas-window" -> Peers.kept(manyKeys, () -> new CasWindow(permits, period), Bare::call);
            case "cas-bucket" -> Peers.kept(manyKeys, () -> new CasBucket(permits, period), Bare::call);
            case "cas-gcra" -> Peers.kept(manyKeys, () -> new CasGcra(permits, period), Bare::call);
            default -> null;
        };
    }

    private static void call(Decider decider, Blackhole sink) {
        sink.consume(decider.decide(System.nanoTime()));
    }

    /** A counter and when it ends, as an immutable value. */
    private static final class CasWindow extends AtomicReference<CasWindow.Window> implements Decider {
        private final long permits;
        private final long period;

        record Window(long count, long end) {}

        CasWindow(long permits, long period) {
            super(new Window(0, Long.MIN_VALUE));
            this.permits = permits;
            this.period = period;
        }

        @Override
        public long decide(long now) {
            while (true) {
                Window seen = Objects.requireNonNull(get());
                boolean over = seen.end <= now;
                long count = over ? 0 : seen.count;
                if (count >= permits) {
                    return now - seen.end;
                }
                if (compareAndSet(seen, new Window(count + 1, over ? now + period : seen.end))) {
                    return permits - count - 1;
                }
            }
        }
    }

    /** Credit at a time, as an immutable value. Credit is counted in permits times the period, so it is exact. */
    private static final class CasBucket extends AtomicReference<CasBucket.Credit> implements Decider {
        private final long rate;
        private final long parts;
        private final long full;

        record Credit(long amount, long from) {}

        CasBucket(long permits, long period) {
            long divisor = greatestDivisor(permits, period);
            rate = permits / divisor;
            parts = period / divisor;
            full = permits * parts;
            set(new Credit(full, System.nanoTime()));
        }

        @Override
        public long decide(long now) {
            while (true) {
                Credit seen = Objects.requireNonNull(get());
                long elapsed = Math.max(0, now - seen.from);
                long credit = elapsed >= full / rate ? full : Math.min(full, seen.amount + elapsed * rate);
                if (credit < parts) {
                    return (credit - parts) / rate;
                }
                if (compareAndSet(seen, new Credit(credit - parts, Math.max(now, seen.from)))) {
                    return (credit - parts) / parts;
                }
            }
        }

        private static long greatestDivisor(long a, long b) {
            return b == 0 ? a : greatestDivisor(b, a % b);
        }
    }

    /** A token bucket as one number: the time when it is full again. It rounds the time of a permit. */
    private static final class CasGcra extends AtomicLong implements Decider {
        private final long period;
        private final long permit;

        CasGcra(long permits, long period) {
            super(System.nanoTime());
            this.period = period;
            this.permit = period / permits;
        }

        @Override
        public long decide(long now) {
            while (true) {
                long fullAt = get();
                long next = Math.max(fullAt, now) + permit;
                if (next - now > period) {
                    return now + period - next;
                }
                if (compareAndSet(fullAt, next)) {
                    return (now + period - next) / permit;
                }
            }
        }
    }

    /** No decision at all: another thread is woken and wakes the caller. */
    private static final class HandOver implements Contender {
        private final ThreadLocal<Answer> answers = ThreadLocal.withInitial(Answer::new);
        private final Queue<Answer> asked = new ConcurrentLinkedQueue<>();
        private final Thread worker = new Thread(this::answer, "hand-over");
        private volatile boolean closed;

        private static final class Answer {
            private final Thread caller = Thread.currentThread();
            private volatile boolean there;
        }

        HandOver() {
            worker.setDaemon(true);
            worker.start();
        }

        @Override
        public void decide(int key, Blackhole sink) {
            Answer answer = answers.get();
            answer.there = false;
            asked.add(answer);
            LockSupport.unpark(worker);
            while (!answer.there) {
                LockSupport.park(this);
            }
            sink.consume(answer);
        }

        private void answer() {
            while (!closed) {
                Answer next = asked.poll();
                if (next == null) {
                    LockSupport.park(this);
                } else {
                    next.there = true;
                    LockSupport.unpark(next.caller);
                }
            }
        }

        @Override
        public void close() {
            closed = true;
            LockSupport.unpark(worker);
        }
    }
}
