package io.limiter.spring.internal;

import io.limiter.Policy;
import io.limiter.spring.internal.MethodLimit.Charged;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The limits of a method under one configuration, in the order of its annotations. Immutable. */
final class MethodLimits {
    private final List<MethodLimit> limits;
    /** Shadow annotations come last. */
    private final List<MethodLimit> ordered;

    /** These limits; {@code enabled} is whether they charge anything. */
    MethodLimits(List<MethodLimit> limits, boolean enabled) {
        this.limits = limits;
        this.ordered = limits.stream()
                .filter(limit -> enabled)
                .sorted(Comparator.comparing(MethodLimit::isShadow))
                .toList();
    }

    /** Their description, for reports: for each plan. */
    Stream<AnnotatedPolicy> described() {
        return limits.stream().flatMap(MethodLimit::described);
    }

    /** What operators should know, as sentences for the log. */
    List<String> findings() {
        return limits.stream().flatMap(limit -> limit.findings().stream()).toList();
    }

    List<Policy> policies() {
        return limits.stream().flatMap(limit -> limit.policies().stream()).toList();
    }

    /**
     * The charges for a call, shadow charges last. If several charge one policy for one key, only the larger charge
     * counts; an enforced one counts for both.
     */
    List<Charged> charge(MethodCall call) {
        if (ordered.size() == 1) {
            Charged only = ordered.get(0).charge(call);
            return only == null ? List.of() : List.of(only);
        }
        List<Charged> all = new ArrayList<>(ordered.size());
        for (MethodLimit limit : ordered) {
            Charged charged = limit.charge(call);
            if (charged != null) {
                add(charged, all);
            }
        }
        return all;
    }

    private static void add(Charged one, List<Charged> all) {
        for (int i = 0; i < all.size(); i++) {
            Charged known = all.get(i);
            if (known.charge().isToSame(one.charge())) {
                if (known.limit().isShadow() == one.limit().isShadow()) {
                    all.set(i, known.with(one));
                }
                return;
            }
        }
        all.add(one);
    }

    /** Charges under an earlier configuration, under the present policies. */
    List<Charged> renewed(List<Charged> earlier) {
        return earlier.stream()
                .flatMap(charged -> limits.stream().flatMap(limit -> limit.renewed(charged)))
                .toList();
    }
}
