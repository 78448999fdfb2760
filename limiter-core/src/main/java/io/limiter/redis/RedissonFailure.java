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
    private static final int DEEPEST_CAUSE = 10;

    private RedissonFailure() {}

    /** The failure as error reply or timeout, with itself as its cause; the same if it is none. */
    static Throwable of(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            if (cause instanceof RedisTimeoutException) {
                return new TimeoutException().initCause(failure);
            }
            String code = code(cause);
            if (code != null) {
                return new ErrorReply(code + cause.getMessage(), failure);
            }
            cause = cause.getCause();
        }
        return failure;
    }

    /** What is missing before the message of an error reply, because Redisson takes it away; null for another exception. */
    private static @Nullable String code(Throwable cause) {
        if (!(cause instanceof RedisException) || cause instanceof RedisConnectionException) {
            return null;
        }
        return cause instanceof RedisOutOfMemoryException
                ? "OOM "
                : cause instanceof RedisRedirectException ? "MOVED " : "";
    }
}
