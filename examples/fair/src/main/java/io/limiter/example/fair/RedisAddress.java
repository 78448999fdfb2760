package io.limiter.example.fair;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** Where Redis is: the property {@code redis} (variable {@code REDIS}), or else a redis-server that this application starts and stops. */
@Component
public final class RedisAddress implements DisposableBean {
    private static final Logger LOG = LoggerFactory.getLogger(RedisAddress.class);

    private final String address;
    private final @Nullable OwnRedis own;

    RedisAddress(Environment environment) {
        String given = environment.getProperty("redis", "");
        own = given.isEmpty() ? OwnRedis.start(OwnRedis.freePort()) : null;
        address = own == null ? given : own.address();
        if (own != null) {
            LOG.info("a redis-server of this application is on {}", address);
        }
    }

    /** The address, as {@code redis://host:port}. */
    public String address() {
        return address;
    }

    @Override
    public void destroy() {
        if (own != null) {
            own.close();
        }
    }
}
