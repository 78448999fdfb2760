package io.limiter.example.fair.points;

import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.stereotype.Component;

/** The articles of the evening, and the readers of each today. Thread-safe. */
@Component
public class Articles {
    private static final List<String> ALL = List.of(
            "how-votes-are-counted",
            "tea-a-history",
            "coffee-after-six",
            "cocoa-and-sleep",
            "the-polling-places",
            "who-may-vote",
            "the-last-result",
            "the-ticket-sale");

    /** KEYS articles. ARGV article, ttl in s. The set ends a day after the first article, as the count of the limiter does. */
    private static final String NOTE = """
            redis.call('SADD', KEYS[1], ARGV[1])
            if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
            return redis.call('SCARD', KEYS[1])
            """;

    private final RedissonClient redis;

    Articles(RedissonClient redis) {
        this.redis = redis;
    }

    /** The names of all articles. */
    public List<String> all() {
        return ALL;
    }

    /**
     * Scores a point. The policy {@code points} counts different articles of a visitor: a second visit of one is denied, and so are further
     * articles once five have scored. What fails gives its place back.
     *
     * @throws io.limiter.spring.RateLimitExceededException if it scores nothing
     */
    @RateLimited(value = "points", key = "#visitor", member = "#article", refundOn = RuntimeException.class)
    public int score(String visitor, String article) {
        if (!ALL.contains(article)) {
            throw new IllegalArgumentException("article is '" + article + "'; read one of " + ALL);
        }
        // In one step: no crash leaves a set that never expires.
        return redis.getScript(StringCodec.INSTANCE)
                .<Long>eval(
                        Mode.READ_WRITE,
                        NOTE,
                        ReturnType.LONG,
                        List.of(key(visitor)),
                        article,
                        Duration.ofDays(1).toSeconds())
                .intValue();
    }

    /** What has scored for the visitor in its day. */
    public Set<String> scored(String visitor) {
        return redis.<String>getSet(key(visitor), StringCodec.INSTANCE).readAll();
    }

    private static String key(String visitor) {
        return "fair:points:read:" + visitor;
    }
}
