package io.limiter.example.site.lab;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import io.limiter.example.site.Instance;
import java.util.ArrayList;
import java.util.List;

/**
 * What the page draws. Times are milliseconds; {@code now} and {@code at} are of this instance's clock.
 *
 * @param round changes when earlier drawings are no longer valid
 */
record LabView(
        String instance,
        String backend,
        double now,
        long round,
        boolean running,
        LabLimits limits,
        List<Lane> lanes,
        List<Arrival> arrivals) {
    /** One algorithm: its totals on this instance, and what it has left for this visitor on all of them. */
    record Lane(
            String algorithm,
            String limit,
            long capacity,
            long admitted,
            long denied,
            long remaining,
            double next,
            double reset,
            Decision.Source source) {}

    static LabView of(Instance instance, double now, Visitor.Notes notes, LabLimits limits, List<Decision> looks) {
        List<Policy> policies = limits.policies();
        List<Lane> lanes = new ArrayList<>();
        for (int i = 0; i < policies.size(); i++) {
            Limit limit = policies.get(i).limits().get(0);
            Decision look = looks.get(i);
            LimitOutcome state = look.binding().orElse(null);
            lanes.add(new Lane(
                    limit.kind(),
                    limit.toString().split(" ")[0],
                    limit.capacity(),
                    notes.admitted().get(i),
                    notes.denied().get(i),
                    look.remaining(),
                    state == null ? 0 : state.nextMicros() / 1_000.0,
                    state == null ? 0 : state.resetMicros() / 1_000.0,
                    look.source()));
        }
        return new LabView(
                instance.name(),
                instance.backend(),
                now,
                notes.round(),
                notes.running(),
                limits,
                lanes,
                notes.arrivals());
    }
}
