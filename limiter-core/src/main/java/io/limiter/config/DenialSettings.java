package io.limiter.config;

import io.limiter.Denials;

/**
 * What is recorded about denied calls. Immutable.
 *
 * @param linesPerSecond how many denials are logged in a second at most, up to 1 000; 0 for none
 * @param keys how many of the busiest denied keys are kept, up to 10 000; 0 for none
 */
public record DenialSettings(int linesPerSecond, int keys) {
    /** The defaults. */
    public static final DenialSettings DEFAULT =
            new DenialSettings(Denials.DEFAULT_LINES_PER_SECOND, Denials.DEFAULT_KEYS);

    private static final String LOG = "limiter.denials.log";
    private static final String KEYS = "limiter.denials.keys";

    /**
     * Checks the settings.
     *
     * @throws ConfigException if one is out of range
     */
    public DenialSettings {
        Problems problems = new Problems();
        problems.range(LOG, linesPerSecond, 0, 1_000);
        problems.range(KEYS, keys, 0, 10_000);
        problems.throwIfAny();
    }

    /** The settings of the properties. */
    static DenialSettings read(Entries entries) {
        return new DenialSettings(number(entries, LOG, DEFAULT.linesPerSecond), number(entries, KEYS, DEFAULT.keys));
    }

    private static int number(Entries entries, String key, int fallback) {
        return "0".equals(entries.text(key)) ? 0 : entries.number(key, fallback);
    }
}
