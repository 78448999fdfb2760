package io.limiter;

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
 * @param name 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param limits at least one, each with a name that is unique here: its own, or by default the policy's name, or
 *     {@code <policy>-<period>} where there are several, or {@code <policy>-<period>-<algorithm>} where several of them
 *     have one period
 * @param onFailure what answers when the backend can't
 * @param deadline the longest that a decision waits for the backend, from 1 ms to 1 minute; null for the backend's own.
 *     Of several policies that one call is charged to, the shortest counts
 */
public record Policy(
        String name,
        List<Limit> limits,
        FailureMode onFailure,
        @Nullable Duration deadline) {
    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(1);
    private static final Duration LONGEST_DEADLINE = Duration.ofMinutes(1);

    /**
     * Checks the policy and names its limits.
     *
     * @throws IllegalArgumentException if the name is unfit, there is no limit, two limits share a name or a state, or the deadline is
     *     out of range
     */
    public Policy {
        Limit.checkName("policy", name);
        Objects.requireNonNull(onFailure, "onFailure");
        if (limits.stream().noneMatch(limit -> limit.algorithm().isQuota())) {
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
    }

    /** A policy with the backend's own deadline. */
    public Policy(String name, List<Limit> limits, FailureMode onFailure) {
        this(name, limits, onFailure, null);
    }

    /** A policy with {@link FailureMode#LOCAL}; with {@link FailureMode#DENY} where a limit can't be shared. */
    public static Policy of(String name, Limit... limits) {
        return new Policy(name, List.of(limits), usualMode(List.of(limits)), null);
    }

    private static FailureMode usualMode(List<Limit> limits) {
        return limits.stream().allMatch(limit -> limit.algorithm().isShareable())
                ? FailureMode.LOCAL
                : FailureMode.DENY;
    }

    /** The same policy with another failure mode. */
    public Policy onFailure(FailureMode mode) {
        return new Policy(name, limits, mode, deadline);
    }

    /** The same policy with a deadline: the longest that a decision waits for the backend. */
    public Policy deadline(Duration longest) {
        return new Policy(name, limits, onFailure, Objects.requireNonNull(longest, "deadline"));
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

    /** What blocks a key after many denials, which is the last of the limits; null for nothing. */
    public @Nullable Limit block() {
        Limit last = limits.get(limits.size() - 1);
        return last.algorithm() == Algorithm.BLOCK ? last : null;
    }

    /** The same policy without its block. */
    Policy withoutBlock() {
        return block() == null ? this : new Policy(name, limits.subList(0, limits.size() - 1), onFailure, deadline);
    }

    /** The same policy with each limit divided among that number of instances. */
    Policy share(long instances) {
        return instances == 1
                ? this
                : new Policy(
                        name,
                        limits.stream().map(limit -> limit.share(instances)).toList(),
                        onFailure,
                        deadline);
    }

    /** A block is the last one, because it counts what the others deny. */
    private static List<Limit> inOrder(String policy, List<Limit> limits) {
        List<Limit> ordered = new ArrayList<>(limits);
        ordered.sort(Comparator.comparing(limit -> !limit.algorithm().isQuota()));
        if (ordered.size() > 1 && !ordered.get(ordered.size() - 2).algorithm().isQuota()) {
            throw new IllegalArgumentException("policy '" + policy + "' has two blocks; give it one");
        }
        return ordered;
    }

    private static List<Limit> named(String policy, List<Limit> limits) {
        long quotas =
                limits.stream().filter(limit -> limit.algorithm().isQuota()).count();
        Map<String, Long> periods = limits.stream()
                .filter(limit -> limit.name() == null)
                .collect(Collectors.groupingBy(Limit::periodText, Collectors.counting()));
        Set<String> names = new HashSet<>();
        Set<String> identities = new HashSet<>();
        List<Limit> named = new ArrayList<>(limits.size());
        for (Limit limit : limits) {
            Limit one = limit.name() != null
                    ? limit
                    : limit.called(
                            quotas == 1
                                    ? policy
                                    : policy + "-" + limit.periodText()
                                            + (periods.getOrDefault(limit.periodText(), 0L) > 1
                                                    ? "-" + limit.algorithm().text()
                                                    : ""));
            if (!names.add(one.givenName())) {
                throw new IllegalArgumentException("policy '" + policy + "' has two limits called '" + one.name()
                        + "'; give one of them a name of its own ('" + limit + " name other')");
            }
            if (!identities.add(one.identity() + " " + one.algorithm())) {
                throw new IllegalArgumentException("policy '" + policy + "' has two limits with one state (" + one
                        + "); give one of them a name of its own ('" + limit.permits() + "/" + limit.periodText()
                        + " name other')");
            }
            named.add(one);
        }
        return List.copyOf(named);
    }
}
