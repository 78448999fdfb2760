package io.limiter.redis;

import io.limiter.BackendException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;

/** What went wrong with Redis, in words that are safe to log: without keys and arguments, which hold client data. */
final class RedisFailure {
    /**
     * At the beginning of what Redis says, or after the place in the script where one of its commands failed: never in the
     * keys that may follow.
     */
    private static final Pattern CODE = Pattern.compile(
            "^(?:ERR Error running script[^@]*|ERR (?=@?user_script))?(?:@?user_script: ?\\d+: )*-?([A-Z]{2,})\\b");

    /** What a server says while it starts or a cluster changes. */
    private static final Set<String> PASSING = Set.of("LOADING", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN");

    private RedisFailure() {}

    static BackendException of(Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (cause instanceof BackendException known) {
            return known;
        }
        String code = cause.getMessage() == null ? "" : code(cause.getMessage());
        return new BackendException(
                code.isEmpty() ? "Redis failed: " + cause.getClass().getSimpleName() : "Redis said " + explained(code),
                cause);
    }

    /** The error that a script returned in its reply. */
    static BackendException ofReply(String message) {
        return new BackendException("Redis said " + explained(code(message)));
    }

    static boolean isNoScript(Throwable failure) {
        return unwrapped(failure) instanceof RedisNoScriptException;
    }

    /** Whether Redis answered, with an error that waiting won't mend, rather than not at all. */
    static boolean isReply(Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (cause instanceof BackendException) {
            return true;
        }
        String code = cause.getMessage() == null ? "" : code(cause.getMessage());
        return cause instanceof RedisException && !code.isEmpty() && !PASSING.contains(code);
    }

    /** The error code in Redis' words, such as WRONGTYPE or OOM; nothing when there is none. */
    static String code(String message) {
        Matcher code = CODE.matcher(message);
        return code.find() ? code.group(1) : "";
    }

    private static String explained(String code) {
        return switch (code) {
            case "LIMITERSTATE", "WRONGTYPE" ->
                code + ": a key of the limiter holds something else; delete it, or use another prefix";
            case "NOPERM" -> code + ": the user may not run the scripts or their commands on the limiter's keys";
            case "OOM" -> code + ": Redis' memory is full";
            default -> code;
        };
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
