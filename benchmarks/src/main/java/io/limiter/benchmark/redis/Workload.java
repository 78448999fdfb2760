package io.limiter.benchmark.redis;

import io.limiter.benchmark.Draw;
import java.util.Locale;

/** Which keys are asked for, and what each of them may have. */
public enum Workload {
    /** 100 000 keys, each as often as any other; nearly all calls are allowed. */
    KEYS(1_000, 60_000_000) {
        @Override
        public int[] draw() {
            return Draw.uniform(100_000);
        }
    },
    /** One key, used up at once. */
    DENIED(10, 86_400_000_000L) {
        @Override
        public int[] draw() {
            return new int[1];
        }
    },
    /** One key with more permits than anybody asks for: a million a second. */
    ALLOWED(10_000, 10_000) {
        @Override
        public int[] draw() {
            return new int[1];
        }
    },
    /** Of 100 calls 99 come from 100 keys that may ask 10 times a second, one from 100 000 others. */
    ATTACK(10, 1_000_000) {
        @Override
        public int[] draw() {
            return Draw.attack(100, 100_100);
        }
    };

    /** So many in each period. */
    public final long permits;
    /** How long a period is. */
    public final long periodMicros;

    Workload(long permits, long periodMicros) {
        this.permits = permits;
        this.periodMicros = periodMicros;
    }

    /** The keys in their order, to be gone through again and again; as many as a power of two. */
    public abstract int[] draw();

    /** The workload of that name, in lower case. */
    public static Workload of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
