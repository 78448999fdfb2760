package io.limiter.example.fair.points;

import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;
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
        RSet<String> read = read(visitor);
        read.add(article);
        // The set is for the page. It ends a day after the first article, as the count of the limiter does.
        if (read.remainTimeToLive() < 0) {
            read.expire(Duration.ofDays(1));
        }
        return read.size();
    }

    /** What has scored for the visitor in its day. */
    public Set<String> scored(String visitor) {
        return read(visitor).readAll();
    }

    private RSet<String> read(String visitor) {
        return redis.getSet("fair:points:read:" + visitor);
    }
}
