package io.limiter;

import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A named set of limits that apply together (10 a second <i>and</i> 1000 a day), and what to do when the backend can't
 * answer. Its name identifies the use case: <i>how often may this caller do this?</i> Immutable.
 *
 * @param name what it limits, and by which it is found: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param limits those of calls in flight first, and after the others its {@link #penalty} if it has one. Each has a name
 * @param onFailure what answers when the backend can't
 * @param deadline the longest that a decision waits for the backend, from 1 ms to 1 minute; null for the backend's own
 * @param holds how many reservations of one key are kept at most; 0 if it can't be reserved
 */
public record Policy(
        String name,
        List<Limit> limits,
        FailureMode onFailure,
        @Nullable Duration deadline,
        int holds) {
    /** The most reservations of one key that can be kept. */
    public static final int MAX_HOLDS = 10_000;

    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofMinutes(1);

    /**
     * Orders the limits, and names those without a name: {@link #of(String, List)}.
     *
     * @throws IllegalArgumentException as the methods here
     */
    public Policy {
        Limit.checkName("policy", name);
        Objects.requireNonNull(onFailure, "onFailure");
        if (limits.stream().allMatch(Limit::isBlock)) {
            throw new IllegalArgumentException(
                    "policy '" + name + "' has no limit; give it at least one, such as 3/10s");
        }
        limits = named(name, inOrder(name, limits));
        if (onFailure != FailureMode.DENY && usualMode(limits) == FailureMode.DENY) {
            throw new IllegalArgumentException("RL-174 policy '" + name + "' with " + limits + " has failure mode '"
                    + onFailure.text() + "', which could sell the same permits twice while Redis is"
                    + " unreachable; write deny");
        }
        if (deadline != null
                && (deadline.compareTo(SHORTEST_DEADLINE) < 0 || deadline.compareTo(LONGEST_DEADLINE) > 0)) {
            throw new IllegalArgumentException("policy '" + name + "' has a deadline of " + deadline
                    + ", outside 1 ms to 1 minute; give it some milliseconds");
        }
        checkHolds(name, limits, holds);
    }

    /**
     * A policy with {@link FailureMode#LOCAL}, with {@link FailureMode#DENY} where a limit is a {@linkplain Limit#allotment stock}; and with the
     * backend's own deadline.
     *
     * @param name 1 to 64 of {@code A-Z a-z 0-9 . _ -}
     * @param limits at least one, each with a name that is unique here: its own, or by default the policy's name, or
     *     {@code <policy>-<period>} where there are several, or {@code <policy>-<period>-<kind>} where several of them
     *     have one period; and one penalty at most
     * @throws IllegalArgumentException if the name is unfit, there is no limit, or two limits share a name or a state
     */
    public static Policy of(String name, List<? extends Limit> limits) {
        List<Limit> all = List.copyOf(limits);
        return new Policy(name, all, usualMode(all), null, 0);
    }

    /** The same of some limits. */
    public static Policy of(String name, Limit... limits) {
        return of(name, List.of(limits));
    }

    private static FailureMode usualMode(List<Limit> limits) {
        return limits.stream().allMatch(limit -> limit.algorithm().isShareable())
                ? FailureMode.LOCAL
                : FailureMode.DENY;
    }

    /** Whether one of its limits caps calls in flight: then who takes its permits must {@linkplain RateLimiter#enter end} the call. */
    public boolean isInFlight() {
        return limits.get(0).isInFlight();
    }

    /** Whether a charge takes one permit of this limit, whatever it costs: of a cap on calls in flight beside reservations. */
    public boolean countsCalls(Limit limit) {
        return holds > 0 && limit.isInFlight();
    }

    /**
     * The same policy with another failure mode.
     *
     * @throws IllegalArgumentException if a limit is a {@linkplain Limit#allotment stock}, which only {@link FailureMode#DENY} fits
     */
    public Policy withFailureMode(FailureMode mode) {
        return new Policy(name, limits, mode, deadline, holds);
    }

    /**
     * The same policy with a deadline. Of several policies that one call is charged to, the shortest counts.
     *
     * @param longest from 1 ms to 1 minute; null for the backend's own
     * @throws IllegalArgumentException if it is out of range
     */
    public Policy withDeadline(@Nullable Duration longest) {
        return new Policy(name, limits, onFailure, longest, holds);
    }

    /**
     * The same policy, whose permits can be {@linkplain RateLimiter#reserve reserved}. All instances must have it so, because
     * their other calls look at what is held.
     *
     * @param mostPerKey how many reservations of one key are kept at most, with those that ended a short time ago; from 1 to
     *     {@value #MAX_HOLDS}, 0 for none
     * @throws IllegalArgumentException if it is out of range, or a limit is neither a fixed window nor a token bucket nor a cap on
     *     calls in flight, which counts a reservation as one call
     */
    public Policy withHolds(int mostPerKey) {
        return new Policy(name, limits, onFailure, deadline, mostPerKey);
    }

    /**
     * The same policy with this block in place of its own; null for none.
     *
     * @throws IllegalArgumentException if it is no {@link Limit#block}
     */
    public Policy withPenalty(@Nullable Limit block) {
        Limit.refuseIf(block != null && !block.isBlock(), "'" + block + "' is not a block; write Limit.block(...)");
        List<Limit> others = new ArrayList<>(limits);
        others.removeIf(Limit::isBlock);
        if (block != null) {
            others.add(block);
        }
        return others.equals(limits) ? this : new Policy(name, others, onFailure, deadline, holds);
    }

    /**
     * The same policy with other limits, and its penalty unless they have one. For this library.
     *
     * @throws IllegalArgumentException if they can't replace those of this policy
     */
    public Policy withLimits(List<Limit> others) {
        Policy other = new Policy(name, others, onFailure, deadline, holds);
        if (takesMembers() != other.takesMembers()
                || !isInFlight() && other.isInFlight()
                || usualMode(limits) == FailureMode.DENY
                || usualMode(others) == FailureMode.DENY) {
            throw new IllegalArgumentException(
                    "limits that count members, or calls in flight, can't replace others, and a stock none");
        }
        return other.penalty() == null ? other.withPenalty(penalty()) : other;
    }

    /** Whether one of its limits counts {@linkplain Charge#member() members}. */
    public boolean takesMembers() {
        // No stream: called for each request.
        for (Limit limit : limits) {
            if (limit.algorithm().takesMembers()) {
                return true;
            }
        }
        return false;
    }

    /** What blocks a key after many denials; null for nothing. */
    public @Nullable Limit penalty() {
        Limit last = limits.get(limits.size() - 1);
        return last.isBlock() ? last : null;
    }

    /** The same policy with each limit divided among that number of instances. For this library. */
    public Policy share(long instances) {
        if (instances == 1) {
            return this;
        }
        List<Limit> parts = limits.stream().map(limit -> limit.share(instances)).toList();
        return new Policy(name, parts, onFailure, deadline, holds);
    }

    private static void checkHolds(String name, List<Limit> limits, int holds) {
        if (holds < 0 || holds > MAX_HOLDS) {
            throw new IllegalArgumentException("policy '" + name + "' has " + holds + " holds, outside 0.." + MAX_HOLDS
                    + "; write how many reservations of one key may be kept");
        }
        for (Limit limit : limits) {
            Algorithm algorithm = limit.algorithm();
            if (holds > 0 && algorithm.isQuota() && !limit.isInFlight() && !algorithm.takesHolds()) {
                throw new IllegalArgumentException(
                        "RL-181 policy '" + name + "' has holds, and its limit '" + limit.text()
                                + "' can't be reserved; write fixed or token-bucket, or leave 'holds' out (a stock has a hold of its"
                                + " own)");
            }
            if (holds > 0 && algorithm.takesHolds() && limit.capacity() > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(
                        "RL-181 policy '" + name + "' has holds, and its limit '" + limit.text() + "' is above "
                                + Integer.MAX_VALUE + "; count in larger units, such as thousands");
            }
        }
    }

    /** Calls in flight first, which a block does not count; a block last, because it counts what the others deny. */
    private static List<Limit> inOrder(String policy, List<Limit> limits) {
        List<Limit> ordered = new ArrayList<>(limits);
        ordered.sort(Comparator.comparing(Limit::isBlock).thenComparing(limit -> !limit.isInFlight()));
        if (ordered.size() > 1 && ordered.get(ordered.size() - 2).isBlock()) {
            throw new IllegalArgumentException("policy '" + policy + "' has two blocks; give it one");
        }
        return ordered;
    }

    private static List<Limit> named(String policy, List<Limit> limits) {
        long quotas = limits.stream().filter(limit -> !limit.isBlock()).count();
        Map<String, Long> periods = limits.stream()
                .filter(limit -> limit.name() == null)
                .collect(Collectors.groupingBy(limit -> limit.label(), Collectors.counting()));
        Set<String> names = new HashSet<>();
        Set<String> identities = new HashSet<>();
        List<Limit> named = new ArrayList<>(limits.size());
        for (Limit limit : limits) {
            Limit one = limit.name() != null
                    ? limit
                    : limit.called(
                            quotas == 1
                                    ? policy
                                    : policy + "-" + limit.label()
                                            + (periods.getOrDefault(limit.label(), 0L) > 1 ? "-" + limit.kind() : ""));
            if (!names.add(one.givenName())) {
                throw new IllegalArgumentException("policy '" + policy + "' has two limits called '" + one.name()
                        + "'; give one of them a name of its own ('" + limit + " name other')");
            }
            if (!identities.add(one.identity() + " " + one.kind())) {
                throw new IllegalArgumentException("policy '" + policy + "' has two limits with one state (" + one
                        + "); give one of them a name of its own ('" + limit.called("other") + "')");
            }
            named.add(one);
        }
        return List.copyOf(named);
    }
}
