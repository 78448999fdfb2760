package io.limiter.example.fair.shell;

import io.limiter.example.fair.RedisAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.redisson.client.RedisException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The live picture of what a system has in Redis. */
@RestController
@RequestMapping("/api/redis")
class RedisPicture {
    private static final int MOST_KEYS = 50;
    private static final int MOST_ROUNDS = 40;
    private static final Map<String, String> SIZES = Map.of(
            "string", "STRLEN", "list", "LLEN", "hash", "HLEN", "set", "SCARD", "zset", "ZCARD", "stream", "XLEN");

    /** A key, how many entries it has (a string: bytes), and when it expires (-1: never). */
    record Key(String name, String type, long size, long ttlSeconds) {}

    /** At most 50 keys, and the last commands on such keys, the newest first. */
    record Picture(List<Key> keys, List<String> commands) {}

    private final String address;
    private final Commands commands;
    private final Outage outage;

    RedisPicture(RedisAddress redis, Commands commands, Outage outage) {
        this.address = redis.address();
        this.commands = commands;
        this.outage = outage;
    }

    /** The picture of a system, whose keys begin with {@code fair:SYSTEM} or <code>fair:&#123;SYSTEM</code>. */
    @GetMapping("/{system:[a-z]+}")
    Picture picture(@PathVariable String system) {
        try {
            commands.watch();
            try (RedisWire wire = new RedisWire(address)) {
                // What was sent before this picture was asked for is in it.
                List<String> last = commands.of(system, wire.opening());
                List<Key> keys = new ArrayList<>();
                for (String name : names(wire, system)) {
                    String type = String.valueOf(wire.ask("TYPE", name));
                    long size = (Long) wire.ask(SIZES.getOrDefault(type, "EXISTS"), name);
                    keys.add(new Key(name, type, size, (Long) wire.ask("TTL", name)));
                }
                outage.end();
                return new Picture(keys, last);
            }
        } catch (IOException unreachable) {
            throw new RedisException("no picture", unreachable);
        }
    }

    private static Iterable<String> names(RedisWire wire, String system) throws IOException {
        Pattern ours = Pattern.compile("fair:\\{?" + system + "[:}-].*", Pattern.DOTALL);
        TreeSet<String> names = new TreeSet<>();
        String cursor = "0";
        for (int round = 0; round < MOST_ROUNDS && names.size() < MOST_KEYS; round++) {
            List<?> reply = (List<?>) wire.ask("SCAN", cursor, "MATCH", "fair:*" + system + "*", "COUNT", "1000");
            cursor = String.valueOf(reply.get(0));
            for (Object name : (List<?>) reply.get(1)) {
                if (names.size() < MOST_KEYS
                        && ours.matcher(String.valueOf(name)).matches()) {
                    names.add(String.valueOf(name));
                }
            }
            if (cursor.equals("0")) {
                break;
            }
        }
        return names;
    }
}
