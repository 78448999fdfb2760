package io.limiter.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The clients of Redis that can be used. Both are optional: here is the one place that asks which of them is there. */
enum ClientLibrary {
    REDISSON("Redisson", "org.redisson.api.RedissonClient", "org.redisson:redisson 4.7.0"),
    LETTUCE("Lettuce", "io.lettuce.core.RedisClient", "io.lettuce:lettuce-core 6.6.0");

    private static final Logger LOG = LoggerFactory.getLogger(ClientLibrary.class);

    private final String title;
    private final String type;
    private final String coordinates;

    ClientLibrary(String title, String type, String coordinates) {
        this.title = title;
        this.type = type;
        this.coordinates = coordinates;
    }

    /**
     * How a Redis is reached.
     *
     * @param wanted the client to use; null for the one that is there, and for Redisson if both are
     * @throws IllegalStateException if it is not there
     */
    static RedisClients clients(RedisAddresses addresses, @Nullable ClientLibrary wanted) {
        List<ClientLibrary> present = Arrays.stream(values())
                .filter(one -> wanted == null || one == wanted)
                .filter(ClientLibrary::isPresent)
                .toList();
        if (present.isEmpty()) {
            throw wanted == null
                    ? missing("limiter.redis.address", List.of(values()))
                    : missing("limiter.redis.client = " + wanted.name().toLowerCase(Locale.ROOT), List.of(wanted));
        }
        if (present.size() > 1) {
            LOG.info("Redisson and Lettuce are on the class path: Redisson is used; for the other set"
                    + " limiter.redis.client = lettuce");
        }
        return present.get(0) == REDISSON ? RedissonClients.of(addresses) : LettuceClients.of(addresses);
    }

    /** @throws IllegalStateException if it is not there */
    void require(String what) {
        if (!isPresent()) {
            throw missing(what, List.of(this));
        }
    }

    private static IllegalStateException missing(String what, List<ClientLibrary> any) {
        String names = any.stream().map(one -> one.title).collect(Collectors.joining(" or "));
        String add = any.stream().map(one -> one.coordinates + " or newer").collect(Collectors.joining(", or "));
        return new IllegalStateException("RL-112 " + what + " needs " + names + " on the class path; add " + add);
    }

    private boolean isPresent() {
        try {
            Class.forName(type, false, ClientLibrary.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }
}
