package io.limiter.redis;

import org.jspecify.annotations.Nullable;
import org.redisson.config.Config;

/**
 * Who the limiter is to Redis.
 *
 * @param username null for Redis' default user
 * @param password null for none, or the one that stands in the address
 */
record Login(@Nullable String username, @Nullable String password) {
    static final Login NONE = new Login(null, null);

    void into(Config config) {
        if (password != null) {
            config.setUsername(username);
            config.setPassword(password);
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Login[username=" + username + "]";
    }
}
