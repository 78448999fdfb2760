package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Describes a failure of Redis in text that is safe to log: without keys and arguments, which contain client data. */
final class RedisFailure {
    /** What Redis 6.2 to 8 and Valkey say of a key in a script that they do not have, do not serve, or want in another command. */
    private static final Pattern ABOUT_SLOTS = Pattern.compile("[Ss]cript attempted to access");

    /**
     * At the beginning of Redis' reply, or after the place in the script where one of its commands failed: never in the
     * keys that may follow.
     */
    private static final Pattern CODE = Pattern.compile(
            "^(?:ERR Error running script[^@]*|ERR (?=@?user_script))?(?:@?user_script: ?\\d+: )*-?([A-Z]{2,})\\b");

    /** From a script with a command that the user is not permitted to run. */
    private static final String NOT_ALLOWED = "user executing the script can't run this command";

    /** Where in a script it happened. */
    private static final Pattern PLACE = Pattern.compile("(?s)^.*@?user_script: ?\\d+: ");

    private static final Pattern ARGUMENTS = Pattern.compile("(?is)[,.]? *(with args|args:|sha1?:|script:).*");
    /** Quoted text is an argument, unless it is the unknown command; keys have braces or other characters that no word has. */
    private static final Pattern QUOTED =
            Pattern.compile("(?<!command )(['\"`]).*?\\1|[^\\s'\"`]*[{}@/=%:~\\d][^\\s'\"`]*");

    private static final int LONGEST_WORDS = 120;

    /**
     * The message for an error reply of Redis: its kind; its code, or words that only an error of Redis has, or several
     * of them; the text, with {@code %s} for the code and {@code %w} for Redis' words. The first match counts.
     */
    private static final String TABLE = """
            FAULT | unknown command, unknown redis command, unknown subcommand | RL-212 Redis replied: %w; the limiter needs a \
            server that runs Lua scripts (EVALSHA, SCRIPT LOAD) and the commands in them; enable them, or use another server
            FAULT | WRONGTYPE, LIMITERSTATE | RL-222 Redis replied %s: a key of the limiter holds something else; delete it, \
            or use another prefix
            FAULT | NOPERM | RL-209 Redis replied %s: the user may not run the scripts or their commands on the limiter's keys
            FAULT | WRONGPASS, invalid username-password, invalid password | RL-202 Redis refuses the login: check user and \
            password
            FAULT | NOAUTH | RL-202 Redis requires a login, and none is configured
            FAULT | without any password configured | RL-202 a password is configured, and Redis has none
            FAULT | MOVED, CROSSSLOT | RL-207 Redis replied %s: it is a cluster, and was not addressed as one
            FAULT | cluster support disabled | RL-207 it is no cluster, and was addressed as one
            FAULT | DB index is out of range | RL-201 Redis has no database of that number
            UNAVAILABLE | max number of clients | RL-201 Redis has reached its limit of clients (maxclients)
            UNAVAILABLE | DENIED | RL-201 Redis is in protected mode: it accepts connections from its own machine only
            UNAVAILABLE | READONLY | RL-203 Redis replied %s: it is a replica and takes no calls
            UNAVAILABLE | OOM | RL-204 Redis replied %s: its memory is full
            UNAVAILABLE | LOADING, BUSY, CLUSTERDOWN, MASTERDOWN, TRYAGAIN, NOREPLICAS, MISCONF, NOSCRIPT, ASK \
            | RL-224 Redis can't decide for now: it replied %s
            """;

    private record Known(Kind kind, List<String> signs, String text) {
        String message(String code, String words) {
            return text.replace("%s", code).replace("%w", safe(words));
        }

        static Known of(String line) {
            String[] parts = line.split(" \\| ", 3);
            return new Known(Kind.valueOf(parts[0]), List.of(parts[1].split(", ")), parts[2]);
        }
    }

    private static final List<Known> ALL_KNOWN = TABLE.lines().map(Known::of).toList();
    private static final Known OTHER =
            new Known(Kind.FAULT, List.of(), "RL-223 a script of the limiter failed: Redis replied: %w");

    private static final int DEEPEST_CAUSE = 10;

    private RedisFailure() {}

    /**
     * Waits for an answer. An interrupt is kept.
     *
     * @throws BackendException if there is none in time, or an error
     */
    static <T> T await(Future<T> answer, Duration longest) {
        try {
            return answer.get(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw closed();
        } catch (ExecutionException | TimeoutException failed) {
            throw of(failed);
        }
    }

    static BackendException of(Throwable failure) {
        Throwable[] causes = causes(failure);
        for (Throwable cause : causes) {
            if (cause instanceof BackendException known) {
                return known;
            }
            String code = code(cause);
            if (!code.isEmpty()) {
                String words = String.valueOf(cause.getMessage());
                Known known = known(code, words);
                return new BackendException(known.kind, known.message(code, words), failure);
            }
        }
        // A probe finds out whether it is unreachable: a broken connection may be one of many.
        return new BackendException(
                Kind.LATE,
                causes[0] instanceof TimeoutException
                        ? "RL-220 Redis did not answer in time"
                        : "RL-220 no connection to Redis: "
                                + causes[0].getClass().getSimpleName(),
                failure);
    }

    /** What helps if TLS does not come about: a server without TLS does not answer what it does not understand. */
    private static final String TLS_HINT = "TLS was not established: does the port speak TLS, and do both sides"
            + " accept version and certificate of the other? For a port without TLS write redis:// instead of rediss://";

    /** The reason why there is no connection yet. The message of a network exception contains an address and no client data. */
    static String whileConnecting(Throwable failure, boolean isTls) {
        Throwable[] causes = causes(failure);
        for (Throwable cause : causes) {
            String words = String.valueOf(cause.getMessage());
            Known known = known(code(cause), words);
            if (known != OTHER) {
                return known.message(code(cause), words);
            }
        }
        String message = String.valueOf(of(failure).getMessage());
        if (message.startsWith("RL-223")) {
            return "RL-201 Redis refuses the connection; set the logger io.limiter to debug to see its reply";
        }
        if (!message.startsWith("RL-220")) {
            return message;
        }
        String network = Arrays.stream(causes)
                .filter(IOException.class::isInstance)
                .findFirst()
                .map(one -> of((IOException) one))
                .orElse("");
        if (isTls && !network.startsWith("ConnectException") && !network.startsWith("UnknownHost")) {
            return "RL-201 " + (network.isEmpty() ? "" : network + "; ") + TLS_HINT;
        }
        return "RL-201 "
                + (network.isEmpty() ? causes[causes.length - 1].getClass().getSimpleName() : network);
    }

    /** The text of a network failure: Netty's exceptions are named like those of Java that they extend. */
    static String of(IOException network) {
        Class<?> type = network.getClass();
        while (!type.getName().startsWith("java")) {
            type = type.getSuperclass();
        }
        return type.getSimpleName() + ": " + network.getMessage();
    }

    static BackendException late(Kind kind, long deadlineMillis) {
        return kind == Kind.OVERLOADED
                ? overloaded("no answer within " + deadlineMillis + " ms, while others got theirs")
                : new BackendException(kind, "RL-220 Redis did not answer within " + deadlineMillis + " ms", null);
    }

    static BackendException overloaded(String what) {
        return new BackendException(Kind.OVERLOADED, "RL-221 Redis or this JVM is overloaded: " + what, null);
    }

    static BackendException stalled(long micros) {
        return new BackendException(
                Kind.OVERLOADED,
                "RL-237 this JVM was stalled for " + micros / 1_000
                        + " ms, so its calls to Redis got no answer in time;"
                        + " Redis may be well: look for garbage collection and for a CPU quota",
                null);
    }

    /**
     * The error of one request, whose text is part of a reply. What a server says of a key that it does not have now begins with the code
     * of that.
     *
     * @param nothingRan whether no limit of the request was charged
     */
    static Throwable replied(String error, boolean nothingRan) {
        boolean isElsewhere = nothingRan && ABOUT_SLOTS.matcher(error).find();
        String code = isElsewhere && error.contains("same slot") ? "CROSSSLOT " : isElsewhere ? "MOVED " : "ERR ";
        return new ErrorReply(isElsewhere || code(error).isEmpty() ? code + error : error);
    }

    /** Whether this is the reply to a call of which nothing ran, because of where its keys are: alone it finds them. */
    static boolean isElsewhere(Object reply) {
        return hasCode(reply, "TRYAGAIN", "CROSSSLOT", "MOVED");
    }

    /** Whether a server replied that it takes no calls as long as it is a replica, or loads: nothing ran. */
    static boolean isOfReplica(@Nullable Object reply) {
        return hasCode(reply, "READONLY", "LOADING", "MASTERDOWN");
    }

    /** Whether a server replied that it wants keys of one slot in each command. */
    static boolean wantsOneSlot(Object reply) {
        return hasCode(reply, "CROSSSLOT");
    }

    static BackendException suspect(String name) {
        return new BackendException(
                Kind.LATE,
                "RL-230 " + name
                        + " did not answer in time several times, so no calls are sent to it until a probe finds out why",
                null);
    }

    static BackendException away(String name) {
        return new BackendException(
                "RL-225 " + name + " does not answer, so no calls are sent to it until a probe succeeds");
    }

    static BackendException closed() {
        return new BackendException("RL-227 the Redis backend is closed");
    }

    static BackendException misread(String what) {
        return new BackendException(Kind.FAULT, "RL-228 " + what + "; is something between this JVM and Redis?", null);
    }

    /** Whether Redis replied with one of these codes. */
    static boolean hasCode(@Nullable Object reply, String... codes) {
        return reply instanceof Throwable failure
                && Arrays.stream(causes(failure))
                        .anyMatch(cause -> List.of(codes).contains(code(cause)));
    }

    /** Whether Redis answered, with an error or an unreadable reply, rather than not at all. */
    static boolean isAnswer(Throwable failure) {
        return Arrays.stream(causes(failure))
                .anyMatch(cause ->
                        cause instanceof BackendException || !code(cause).isEmpty());
    }

    /** The error code in Redis' reply, such as WRONGTYPE or OOM; empty if there is none. */
    static String code(String message) {
        if (message.contains(NOT_ALLOWED)) {
            // Redis 6 has no code for it.
            return "NOPERM";
        }
        Matcher code = CODE.matcher(message);
        return code.find() ? code.group(1) : "";
    }

    /** The code of an error reply of Redis; empty for other exceptions. */
    private static String code(Throwable cause) {
        return cause instanceof ErrorReply ? code(String.valueOf(cause.getMessage())) : "";
    }

    private static Known known(String code, String words) {
        String lower = words.toLowerCase(Locale.ROOT);
        for (Known known : ALL_KNOWN) {
            for (String sign : known.signs) {
                if (sign.equals(code) || (sign.contains(" ") && lower.contains(sign.toLowerCase(Locale.ROOT)))) {
                    return known;
                }
            }
        }
        return OTHER;
    }

    /** Redis' reply without quoted parts of the call: keys and arguments contain client data. */
    private static String safe(String words) {
        String reply = words.replaceFirst("(?s)\\. channel: .*", "");
        String head = ARGUMENTS.matcher(PLACE.matcher(reply).replaceFirst("")).replaceFirst("");
        String masked = QUOTED.matcher(head).replaceAll("...");
        return masked.length() <= LONGEST_WORDS ? masked : masked.substring(0, LONGEST_WORDS) + "...";
    }

    /**
     * Whether a server with this error can decide no calls; false for errors about one key, or about where a key is.
     */
    static boolean isRefusal(BackendException failure) {
        String message = String.valueOf(failure.getMessage());
        return !message.startsWith("RL-222") && !message.startsWith("RL-207");
    }

    /** Whether Redis did not accept the login, or its absence. */
    static boolean isLogin(BackendException failure) {
        return String.valueOf(failure.getMessage()).startsWith("RL-202");
    }

    /** The failure and its causes, without the wrappers of futures. */
    private static Throwable[] causes(Throwable failure) {
        Throwable[] all = Stream.iterate(failure, cause -> cause != null, cause -> cause.getCause())
                .limit(DEEPEST_CAUSE)
                .filter(cause -> !(cause instanceof CompletionException) && !(cause instanceof ExecutionException))
                .toArray(Throwable[]::new);
        return all.length == 0 ? new Throwable[] {failure} : all;
    }
}
