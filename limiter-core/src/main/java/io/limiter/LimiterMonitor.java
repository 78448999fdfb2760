package io.limiter;

import io.limiter.internal.Access;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link RateLimiter} has decided, which keys it denies, and how its backend is. Only this library extends it.
 * Thread-safe; nothing here calls a server.
 *
 * <p>Decisions are counted by policy and source, never by client, so their size is that of the configuration. The numbers
 * start at 0 when the limiter is made and only grow; looks are not counted. A call that is charged to several policies
 * counts once for each of them that allowed or denied it. A policy that would have allowed a call that another one denied
 * was not charged, and counts nothing.
 *
 * <p>Some denials are lines in the log (RL-405, logger {@code io.limiter.Denials}), and the keys that are denied most are
 * kept in bounded memory, however many there are. Slow floods are counted one by one. Where more than about
 * 10 000 calls a second are denied, one denial in about 64 is recorded and counts as 64. A call that several policies deny is
 * recorded for the one with the longest wait.
 */
public abstract class LimiterMonitor {
    /** The name under which policies beyond 1 000 are counted, so that names made at run time can't fill the memory. */
    public static final String OTHERS = "*";

    /** How many denials are logged in a second, unless configured. */
    public static final int DEFAULT_LINES_PER_SECOND = 1;

    /** How many of the busiest keys are kept, unless configured. */
    public static final int DEFAULT_KEYS = 200;

    /** For this library. */
    protected LimiterMonitor(Access library) {
        Objects.requireNonNull(library);
    }

    /**
     * A key that is denied. Immutable.
     *
     * @param policy the name of the policy that denies it
     * @param key whose quota; secrets in it are hashes, as in the names of states in Redis
     * @param shadow whether calls only would have been denied
     * @param rules the rules and annotated methods that charge the policy, one of which caused the denials; empty if only code does
     * @param denied about how many denials in the last ten minutes, since it was last displaced by other keys: older ones count less
     *     and less, and in a flood it is an estimate
     * @param limit the limit that caused the last denial, as configuration text; null if nothing could be counted
     * @param source where the last denial came from
     * @param sinceLast the time since the last denial
     * @param retryAfter what is left of the wait that the last denial gave: zero when it is over or was unknown, null for never
     */
    public record DeniedKey(
            String policy,
            PartitionKey key,
            boolean shadow,
            List<String> rules,
            long denied,
            @Nullable String limit,
            Decision.Source source,
            Duration sinceLast,
            @Nullable Duration retryAfter) {}

    /** Names the rules or methods that charge a policy. Called by any thread. */
    @FunctionalInterface
    public interface RuleNames {
        /**
         * The names.
         *
         * @param policy the name of the policy
         * @param shadow whether shadow rules are meant
         */
        Stream<String> of(String policy, boolean shadow);

        /** The override or switch of an operator that is in force for a key under a policy, with its note; empty for none. */
        default String operator(String policy, PartitionKey key) {
            return "";
        }
    }

    /** The policies that decided something so far, in order. */
    public abstract Set<String> policies();

    /**
     * Reports the name of each policy, once, as soon as it decides something for the first time; policies that already
     * have are reported at once. The listener is called on the thread of a blocking caller or on the limiter's executor,
     * never on a thread that reads Redis' answers, so it may call the limiter. Exceptions that it throws are logged.
     */
    public abstract void onPolicy(Consumer<String> listener);

    /** How many calls the policy allowed by a decision of this source. */
    public abstract long allowed(String policy, Decision.Source source);

    /** How many calls the policy denied by a decision of this source. */
    public abstract long denied(String policy, Decision.Source source);

    /** How many of the calls that the policy denied were denied because their key is blocked ({@link Limit#block}). */
    public abstract long blocked(String policy);

    /** What is counted of {@linkplain RateLimiter#reserve reservations}. */
    public enum HoldCount {
        /** Reservations of this instance that were not settled in time, so that they came back by themselves. */
        EXPIRED,
        /** Settlements above the estimate. */
        ABOVE_ESTIMATE,
        /** Permits of them that were not charged, because a debt is at most the capacity of a limit. */
        FORGOTTEN,
        /** Settlements that did not reach the backend in time, or that it refused with an error (RL-411). */
        LOST,
        /** Settlements without a record of the reservation (RL-412). */
        UNKNOWN,
        /** Actual costs that are none (RL-414). */
        IGNORED,
        /** Reservations that were denied because a key had as many as are kept (RL-410). */
        FULL
    }

    /** How many of these the policy has had in this instance. */
    public abstract long holds(String policy, HoldCount what);

    /** How many permits the reservations that this instance has made hold now, up to 100 000 reservations in all. */
    public abstract long held(String policy);

    /** How many permits the calls in flight of this instance hold now under the policy. */
    public abstract long inFlight(String policy);

    /** How often the backend gave no decision, for this reason. */
    public abstract long failures(BackendException.Kind kind);

    /**
     * The keys that were denied most often in the last ten minutes, the busiest first. The same key is a separate
     * entry for each policy, and for calls that only would have been denied.
     *
     * @param most how many at most, 0 or more
     */
    public abstract List<DeniedKey> busiest(int most);

    /**
     * Sets what is recorded of denials from now on; earlier records are kept, as many as keys.
     *
     * @param linesPerSecond the most denials that are logged in a second, up to 1 000; 0 for none
     * @param keys how many keys are recorded, up to 10 000; 0 for none
     * @throws IllegalArgumentException if one is out of range
     */
    public abstract void recordDenials(int linesPerSecond, int keys);

    /**
     * Registers names for the log and {@link DeniedKey#rules()}.
     *
     * @return removes the registration
     */
    public abstract Runnable registerRuleNames(RuleNames names);

    /** How many calls wait now. */
    public abstract int waiting();

    /** The current state of the backend, without the fallback. */
    public abstract Backend.Health health();
}
