package io.limiter.spring.boot.actuate;

import io.limiter.Denials;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys that this instance denied most in the last 10 to 20 minutes. Durations are of ISO 8601, such as {@code PT9.5S}. Immutable.
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
     * @param key as {@code /actuator/ratelimits/{policy}?key=} takes it; secrets in it are hashes
     * @param parts the same in plain text
     * @param rules the rules and annotated methods that charge the policy; empty where only code does
     * @param shadow whether calls only would have been denied
     * @param denied how many denials; an estimate in a flood
     * @param excess how many of them may have been of other keys
     * @param limit the limit that denied last; null where nobody could count
     * @param source where the last denial came from
     * @param sinceLast the time since then
     * @param retryAfter what is left of the wait that it gave; {@code never} where a call can never pass
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
