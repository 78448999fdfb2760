package io.limiter.internal.config;

import io.limiter.address.IpNetwork;
import java.util.List;

/**
 * Callers that are exempt or denied under all rules. Immutable.
 *
 * @param exempt callers that no rule counts
 * @param denied the networks of callers that are denied before anything is counted
 * @param deniedStatus of that answer: 403 or 429
 */
public record CallerSettings(CallerMatcher exempt, List<IpNetwork> denied, int deniedStatus) {
    /** Copies the networks. */
    public CallerSettings {
        denied = List.copyOf(denied);
    }

    static CallerSettings read(PropertyReader reader) {
        return new CallerSettings(
                CallerMatcher.read(reader, "limiter.exempt."),
                CallerMatcher.networks(reader, "limiter.deny.addresses"),
                reader.number("limiter.deny.status"));
    }
}
