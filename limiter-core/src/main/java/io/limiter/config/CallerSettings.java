package io.limiter.config;

import io.limiter.address.IpNetwork;
import java.util.List;

/**
 * Callers that are exempt or denied under all rules. Immutable.
 *
 * @param exempt callers that no rule counts
 * @param denied the networks of callers that are denied before anything is counted
 * @param deniedStatus of that answer: 403 or 429
 */
public record CallerSettings(Callers exempt, List<IpNetwork> denied, int deniedStatus) {
    /** All callers are counted, and none is denied. */
    public static final CallerSettings NONE = new CallerSettings(Callers.NONE, List.of(), 403);

    /**
     * Checks the settings and copies the networks.
     *
     * @throws ConfigException if the status is invalid, or a network has bits behind its prefix
     */
    public CallerSettings {
        denied = List.copyOf(denied);
        Problems problems = new Problems();
        problems.on("limiter.deny.addresses", denied).check(all -> all.forEach(Callers::checkNetwork));
        problems.on("limiter.deny.status", deniedStatus)
                .must(deniedStatus == 403 || deniedStatus == 429, "write 403 or 429");
        problems.throwIfAny();
    }

    /** The settings of the properties. */
    static CallerSettings read(Entries entries) {
        return new CallerSettings(
                Callers.read(entries, "limiter.exempt."),
                Callers.networks(entries, "limiter.deny.addresses"),
                entries.number("limiter.deny.status", NONE.deniedStatus));
    }
}
