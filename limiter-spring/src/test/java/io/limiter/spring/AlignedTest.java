package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.application.Limiter;
import java.time.Duration;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.Test;

/** Limits that turn at calendar time, on methods. */
class AlignedTest {
    private static final String PLAIN = "limiter.policies.letters.limits = 3/1d fixed name daily\n";

    static class Office {
        @RateLimited(value = "letters", key = "global")
        public void letter() {}
    }

    private static int letters(App app) {
        return App.passes(9, () -> {
            app.bean(Office.class).letter();
            return null;
        });
    }

    @Test
    void aPolicyBecomesAlignedWhileItRuns() {
        try (App app = noon()) {
            assertEquals(3, letters(app));
            app.context()
                    .getBean(Limiter.class)
                    .replace(App.config(PLAIN.replace("fixed", "fixed aligned Europe/Rome")));
            assertEquals(0, letters(app));
            app.time.advance(Duration.ofHours(12));
            assertEquals(3, letters(app));
        }
    }

    /** In Rome, on the day on which clocks are set back. */
    private static App noon() {
        App app = App.of(PLAIN, Office.class);
        app.time.setMicros(OffsetDateTime.parse("2026-10-25T12:00:00+01:00").toEpochSecond() * 1_000_000);
        return app;
    }
}
