package io.limiter.example.site;

import io.limiter.application.Limiter;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** The name of this instance, and where its limits are kept. */
@Component
public class Instance {
    private final Environment environment;
    private final boolean onRedis;

    Instance(Environment environment, Limiter limiter) {
        this.environment = environment;
        this.onRedis = limiter.config().isShared();
    }

    /** Its name on the page: {@code site.instance}, or its port. */
    public String name() {
        String port = environment.getProperty("local.server.port", "?");
        return environment.getProperty("site.instance", "port " + port);
    }

    /** {@code redis} or {@code in-process}. */
    public String backend() {
        return onRedis ? "redis" : "in-process";
    }
}
