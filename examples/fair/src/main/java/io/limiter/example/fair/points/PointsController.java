package io.limiter.example.fair.points;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.spring.RateLimitExceededException;
import java.util.List;
import java.util.Set;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Points over HTTP. */
@RestController
@RequestMapping("/api/points")
class PointsController {
    private final Articles articles;
    private final Limiter limiter;
    private final RedissonClient redis;

    PointsController(Articles articles, Limiter limiter, RedissonClient redis) {
        this.articles = articles;
        this.limiter = limiter;
        this.redis = redis;
    }

    /** A visitor and an article. */
    record Reading(String visitor, String article) {}

    /** An article, and whether it has scored. */
    record Read(String article, boolean scored) {}

    /** The points of the visitor's day, at most how many, and all articles. */
    record View(int points, long most, List<Read> articles) {}

    /** What came of reading: {@code scored}, {@code again} or {@code enough}. */
    record Result(String result, int points) {}

    @GetMapping
    View view(@RequestParam String visitor) {
        Set<String> scored = articles.scored(visitor);
        return new View(
                scored.size(),
                limiter.policy("points").limits().get(0).permits(),
                articles.all().stream()
                        .map(one -> new Read(one, scored.contains(one)))
                        .toList());
    }

    /** Not 429: reading is always allowed, only the point is not. */
    @PostMapping("/read")
    Result read(@RequestBody Reading reading) {
        try {
            return new Result("scored", articles.score(reading.visitor(), reading.article()));
        } catch (RateLimitExceededException denied) {
            Set<String> scored = articles.scored(reading.visitor());
            return new Result(scored.contains(reading.article()) ? "again" : "enough", scored.size());
        }
    }

    /** The next day of a visitor. */
    @PostMapping("/tomorrow")
    void tomorrow(@RequestBody Reading reading) {
        limiter.rateLimiter()
                .reset(
                        limiter.policy("points"),
                        PartitionKey.builder().add("key", reading.visitor()).build());
        redis.getKeys().delete("fair:points:read:" + reading.visitor());
    }
}
