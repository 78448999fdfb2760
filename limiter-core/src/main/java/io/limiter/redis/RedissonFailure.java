package io.limiter.redis;

import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisRedirectException;
import org.redisson.client.RedisTimeoutException;

/** Redisson's exceptions in the words of {@link Transport}. */
final class RedissonFailure {
    private RedissonFailure() {}

    /** The failure as error reply or timeout, with itself as its cause; the same if it is none. */
    static Throwable of(Throwable failure) {
        return failure instanceof RedisTimeoutException
                ? new TimeoutException().initCause(failure)
                : ErrorReply.of(failure, RedissonFailure::reply);
    }

    /** The text of an error reply, with its code, which Redisson leaves out of some; null for a failure that is no reply. */
    private static @Nullable String reply(Throwable cause) {
        if (!(cause instanceof RedisException)
                || cause instanceof RedisConnectionException
                || cause instanceof RedisTimeoutException) {
            return null;
        }
        String code = cause instanceof RedisOutOfMemoryException
                ? "OOM "
                : cause instanceof RedisRedirectException ? "MOVED " : "";
        return code + cause.getMessage();
    }
}
