package io.limiter.example.site;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A test on the whole site, at a fixed time. */
abstract class StillSite {
    static Site site;

    final Browser browser = new Browser();

    @BeforeAll
    static void start() {
        site = Site.startWithStillTime();
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    /** So that each test has the full quota of the site's own limits. */
    @BeforeEach
    void later() {
        site.time().advance(Duration.ofMinutes(5));
    }
}
