package io.limiter.redis;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Jedis;

/** A process of its own: asks Redis for a PONG until its input ends, then writes the longest that one took, in milliseconds. */
final class PongJudge {
    private static final long PAUSE_MILLIS = 5;
    private static final CountDownLatch END = new CountDownLatch(1);

    private PongJudge() {}

    public static void main(String[] arguments) throws Exception {
        Thread end = new Thread(PongJudge::awaitEnd);
        end.setDaemon(true);
        end.start();
        long longest = 0;
        try (Jedis redis = new Jedis("127.0.0.1", Integer.parseInt(arguments[0]), 10_000)) {
            redis.ping();
            while (!END.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                long start = System.nanoTime();
                redis.ping();
                longest = Math.max(longest, System.nanoTime() - start);
            }
        }
        System.out.println(TimeUnit.NANOSECONDS.toMillis(longest));
    }

    private static void awaitEnd() {
        try {
            System.in.read();
        } catch (IOException closed) {
            // Ends as well.
        }
        END.countDown();
    }
}
