package io.limiter.servlet;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A test with one server at a time, stopped after it, and a limiter in this JVM at a time that the test sets. */
abstract class Served {
    @TempDir
    Path directory;

    final ManualTime time = new ManualTime();
    RateLimiter limiter = RateLimiters.on(Backends.inProcess(time));

    Container server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        limiter.close();
    }
}
