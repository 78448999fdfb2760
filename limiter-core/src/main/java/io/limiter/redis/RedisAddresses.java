package io.limiter.redis;

import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of a Redis, for whichever client is used.
 *
 * @param kind what is at the addresses
 * @param master the name of the master that sentinels watch; null without sentinels
 * @param username with which to log in to the masters; null for Redis' default user
 * @param password of that user; null for none, or if the addresses have a login
 */
record RedisAddresses(
        Kind kind,
        @Nullable String master,
        List<String> addresses,
        @Nullable String username,
        @Nullable String password) {
    /** The database after the port of an address. */
    static final Pattern DATABASE = Pattern.compile("(?<=:\\d{1,5})/(\\d{1,5})$");

    /** What is at the addresses. */
    enum Kind {
        SINGLE(""),
        SENTINEL("sentinels have no databases; choose the master's in config(...) or yaml(...)"),
        CLUSTER("a cluster has one database; remove what follows the port");

        private final String ifDatabase;

        Kind(String ifDatabase) {
            this.ifDatabase = ifDatabase;
        }
    }

    RedisAddresses {
        addresses = List.copyOf(addresses);
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException(
                    kind == Kind.SENTINEL
                            ? "master '" + master + "' needs the address of at least one sentinel"
                            : "a cluster needs an address of at least one node");
        }
        for (String address : addresses) {
            Matcher database = DATABASE.matcher(address);
            if (kind != Kind.SINGLE && database.find() && Integer.parseInt(database.group(1)) > 0) {
                throw new IllegalArgumentException("'" + withoutPassword(address) + "': " + kind.ifDatabase);
            }
        }
    }

    static RedisAddresses single(String address) {
        return new RedisAddresses(Kind.SINGLE, null, List.of(address), null, null);
    }

    static RedisAddresses cluster(List<String> addresses) {
        return new RedisAddresses(Kind.CLUSTER, null, addresses, null, null);
    }

    static RedisAddresses sentinel(String master, List<String> addresses) {
        return new RedisAddresses(Kind.SENTINEL, Objects.requireNonNull(master, "master"), addresses, null, null);
    }

    RedisAddresses withLogin(@Nullable String user, String secret) {
        return new RedisAddresses(kind, master, addresses, user, secret);
    }

    /** The name of this Redis in messages; contains no password. */
    String name() {
        List<String> shown =
                addresses.stream().map(RedisAddresses::withoutPassword).toList();
        return switch (kind) {
            case SINGLE -> "Redis at " + shown.get(0);
            case SENTINEL -> "the Redis master " + master;
            case CLUSTER -> "the Redis Cluster at " + shown;
        };
    }

    /** An address for a message: without anything before the host. */
    private static String withoutPassword(String address) {
        return address.replaceFirst("(?s)^([^:/@]*://)?.*@", "$1***@");
    }

    @Override
    public String toString() {
        return name();
    }
}
