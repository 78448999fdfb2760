package io.limiter.spring.boot.actuate;

import io.limiter.Denials;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys that this instance denied most in the last 10 to 20 minutes. Durations are in ISO 8601 form, such as {@code
 * PT9.5S}. Immutable.
 *
 * @param keys the busiest first
 */
public record DeniedReport(List<Key> keys) {
    static DeniedReport of(Denials denials, int most) {
        return new DeniedReport(denials.busiest(most).stream().map(Key::of).toList());
    }

    /**
     * A key that is denied.
     *
     * @param policy the policy that denies it
     * @param key as accepted by {@code /actuator/ratelimits/{policy}?key=}; secrets in it are hashes
     * @param parts the same in plain text
     * @param rules the rules and annotated methods that charge the policy; empty if only code does
     * @param shadow whether calls only would have been denied
     * @param denied how many denials; an estimate in a flood
     * @param excess how many of them may have been of other keys
     * @param limit the limit that denied last; null if nothing could be counted
     * @param source where the last denial came from
     * @param sinceLast the time since then
     * @param retryAfter the remaining wait; {@code never} if a call can never be allowed
     */
    public record Key(
            String policy,
            String key,
            List<String> parts,
            List<String> rules,
            boolean shadow,
            long denied,
            long excess,
            @Nullable String limit,
            String source,
            String sinceLast,
            String retryAfter) {
        private static Key of(Denials.DeniedKey denied) {
            Duration wait = denied.retryAfter();
            return new Key(
                    denied.policy(),
                    denied.key().canonical(),
                    KeyText.parts(denied.key()),
                    denied.rules(),
                    denied.shadow(),
                    denied.denied(),
                    denied.excess(),
                    denied.limit(),
                    RateLimitsReport.text(denied.source()),
                    denied.sinceLast().toString(),
                    wait == null ? "never" : wait.toString());
        }
    }
}
