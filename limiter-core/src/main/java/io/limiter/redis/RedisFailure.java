package io.limiter.redis;

import io.limiter.BackendException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.client.RedisNoScriptException;

/** What went wrong with Redis, in words that are safe to log: without keys and arguments, which hold client data. */
final class RedisFailure {
    /** Redis wraps the error of a script's command into one of its own, so the known codes go before ERR. */
    private static final Pattern CODE =
            Pattern.compile("\\b(WRONGTYPE|OOM|NOSCRIPT|READONLY|LOADING|BUSY|CLUSTERDOWN|CROSSSLOT"
                    + "|NOAUTH|WRONGPASS|NOPERM|MISCONF|NOREPLICAS|MASTERDOWN|TRYAGAIN|MOVED|ASK)\\b");

    private RedisFailure() {}

    static BackendException of(Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (cause instanceof BackendException known) {
            return known;
        }
        String code = cause.getMessage() == null ? "" : " " + code(cause.getMessage());
        return new BackendException("Redis failed: " + cause.getClass().getSimpleName() + code, cause);
    }

    static boolean isNoScript(Throwable failure) {
        return unwrapped(failure) instanceof RedisNoScriptException;
    }

    /** The error code in Redis' words, such as WRONGTYPE or OOM; else nothing. */
    static String code(String message) {
        Matcher code = CODE.matcher(message);
        return code.find() ? code.group(1) : message.contains("ERR ") ? "ERR" : "";
    }

    private static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
