package io.limiter.kit;

import io.limiter.config.LimiterConfig;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;

/** Configurations that a test writes. */
public final class Configs {
    private Configs() {}

    /** Of lines of properties. */
    public static LimiterConfig of(String text) {
        try {
            return LimiterConfig.builder().text("test", new StringReader(text)).build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
