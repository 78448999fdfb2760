package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.config.LimitText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A timeline in a text file: what is asked when, and what each limit answers. The same lines are the documentation of
 * what the algorithms mean.
 *
 * <pre>
 * # comment
 * limits 3/10s sliding-list
 * block 20/10m for 15m up to 24h      (where there is one)
 * at 0s    take 1      allow remaining=2 retry=0s next=10s reset=10s
 * at 9s    look 2 ...
 * at 9s    take 1 id=a ...
 * at 9s    take 1 member=a ...         (id=a and member=a can be together; member= is the member without text)
 * at 9s    refund 2    given          (or: nothing; gives back the second call of the file)
 * at 9s    confirm 2   confirmed      (or: nothing)
 * holds 5                             (behind the limits, where permits are reserved)
 * at 9s    reserve 2 for=60s ...
 * at 9s    settle 3 4  settled        (or: ended; the third call of the file has cost 4)
 * at 9s    enter 1 ...                (holds permits until its end)
 * at 9s    end 5                      (the fifth call of the file has ended)
 * at 9s    b:enter 1 ...              (a second instance)
 * at 9s    reset
 * </pre>
 *
 * A time can also be one of a calendar: {@code at 2026-03-29T02:00+01:00}. Where there are several limits, the numbers of each follow a {@code |}.
 */
public final class Trace {
    private static final long START = 1_700_000_000_000_000L;
    private static final Path ROOT = Path.of("../limiter-kit/src/test/resources/io/limiter/traces");

    private static final int MOST_LOOKS = 300;

    /** Before what the second instance asks. */
    private static final String SECOND = " b:";

    private final Path file;

    private Trace(Path file) {
        this.file = file;
    }

    /** All traces of one instance. */
    public static List<Trace> all() {
        return all(false);
    }

    /** Those of two instances, which are for Redis. */
    public static List<Trace> ofTwo() {
        return all(true);
    }

    private static List<Trace> all(boolean ofTwo) {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(path -> path.toString().endsWith(".txt"))
                    .sorted()
                    .map(Trace::new)
                    .filter(trace -> trace.lines().stream().anyMatch(line -> line.contains(SECOND)) == ofTwo)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The trace's lines as they stand in the file. */
    public List<String> lines() {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs the timeline; the lines as the backend answers them, equal to {@link #lines} when it keeps the contract. */
    public List<String> replay(TestedBackend tested) {
        ManualTime time = new ManualTime(START);
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            return replay(time, limiter, limiter);
        }
    }

    /** The same by two instances. */
    public List<String> replay(ManualTime time, RateLimiter first, RateLimiter second) {
        PartitionKey key = PartitionKey.of("192.168.1.19");
        time.setMicros(START);
        List<String> answered = new ArrayList<>();
        Map<Integer, Decision> calls = new HashMap<>();
        Map<Integer, Hold> holds = new HashMap<>();
        Policy policy = null;
        for (String line : lines()) {
            if (line.startsWith("limits ")) {
                policy = Policy.of("p", LimitText.parseAll(line.substring(7)))
                        .withFailureMode(io.limiter.FailureMode.DENY);
            }
            if (line.startsWith("block ") && policy != null) {
                List<Limit> limits = new ArrayList<>(policy.limits());
                limits.add(LimitText.parseBlock(line.substring(6)));
                policy = Policy.of("p", limits).withFailureMode(io.limiter.FailureMode.DENY);
            }
            if (line.startsWith("holds ") && policy != null) {
                policy = policy.withHolds(Integer.parseInt(line.substring(6)));
            }
            if (!line.startsWith("at ") || policy == null) {
                answered.add(line);
                continue;
            }
            boolean isSecond = line.contains(SECOND);
            RateLimiter limiter = isSecond ? second : first;
            String[] words = line.replace(SECOND, " ").split("\\s+");
            time.setMicros(micros(words[1]));
            String asked = line.substring(0, line.indexOf(words[2], 3) + words[2].length());
            if (words[2].equals("reset")) {
                limiter.reset(policy, key);
                answered.add(asked);
            } else if (words[2].equals("end")) {
                limiter.end(calls.get(Integer.parseInt(words[3])));
                answered.add(line);
            } else if (words[2].equals("confirm")) {
                boolean kept = limiter.confirm(calls.get(Integer.parseInt(words[3])));
                answered.add(upTo(line, words[3], 3) + (kept ? "confirmed" : "nothing"));
            } else if (words[2].equals("settle")) {
                Hold hold = holds.get(Integer.parseInt(words[3]));
                Settlement settled = limiter.settle(hold, Long.parseLong(words[4]));
                answered.add(upTo(line, words[4], 4) + settled.name().toLowerCase(Locale.ROOT));
            } else if (words[2].equals("reserve")) {
                long micros = LimitTexts.micros(words[4].substring("for=".length()));
                Hold hold = limiter.reserve(policy, key, Long.parseLong(words[3]), Duration.ofNanos(micros * 1_000));
                calls.put(calls.size() + 1, hold.decision());
                holds.put(calls.size(), hold);
                check(hold.decision(), time, line, limiter);
                answered.add(upTo(line, words[4], 4) + numbers(hold.decision()));
            } else if (words[2].equals("refund")) {
                boolean given = limiter.refund(calls.get(Integer.parseInt(words[3])));
                answered.add(upTo(line, words[3], 3) + (given ? "given" : "nothing"));
            } else {
                String id = value("id=", words);
                String member = value("member=", words);
                Charge charge = new Charge(
                        policy, key, Long.parseLong(words[3]), id, member == null ? null : PartitionKey.of(member));
                int last = 3 + (id == null ? 0 : 1) + (member == null ? 0 : 1);
                PermitRequest request = PermitRequest.of(List.of(charge));
                boolean isLook = words[2].equals("look");
                Decision decision = limiter.tryAcquire(
                        isLook ? request.withLook() : words[2].equals("enter") ? request.withEnd() : request);
                String answer = upTo(line, words[last], last) + numbers(decision);
                // An end is on its way to Redis when it returns; a script that has to be loaded is overtaken.
                for (int i = 0; isLook && i < MOST_LOOKS && !answer.equals(line); i++) {
                    LockSupport.parkNanos(10_000_000);
                    decision = limiter.tryAcquire(request.withLook());
                    answer = upTo(line, words[last], last) + numbers(decision);
                }
                calls.put(calls.size() + 1, decision);
                // What a look tells of a limit that was changed needs a call that writes.
                if (!isLook) {
                    check(decision, time, line, limiter);
                }
                answered.add(answer);
            }
        }
        return answered;
    }

    private void check(Decision decision, ManualTime time, String line, RateLimiter limiter) {
        if (decision.outcomes().get(0).policy().holds() > 0) {
            // What runs out counts until a call finds it: looks do not.
            return;
        }
        long now = time.nowMicros();
        ToldTimes.check(decision, now, this + ": " + line, (charges, at) -> {
            time.setMicros(at);
            return limiter.tryAcquire(PermitRequest.of(charges).withLook()).outcomes();
        });
        time.setMicros(now);
    }

    /** Of the words behind the permits. */
    private static @Nullable String value(String name, String[] words) {
        return Arrays.stream(words, 4, Math.min(6, words.length))
                .filter(word -> word.startsWith(name))
                .map(word -> word.substring(name.length()))
                .findFirst()
                .orElse(null);
    }

    private static long micros(String time) {
        return time.contains("T")
                ? OffsetDateTime.parse(time).toEpochSecond() * 1_000_000
                : START + LimitTexts.micros(time);
    }

    private static String upTo(String line, String word, int index) {
        int at = 0;
        for (int i = 0; i < index; i++) {
            at = line.indexOf(' ', at);
            while (line.charAt(at) == ' ') {
                at++;
            }
        }
        int end = at + word.length();
        while (end < line.length() && line.charAt(end) == ' ') {
            end++;
        }
        return line.substring(0, end);
    }

    private static String numbers(Decision decision) {
        StringBuilder text = new StringBuilder();
        for (LimitOutcome outcome : decision.outcomes()) {
            text.append(text.isEmpty() ? "" : " | ")
                    .append(outcome.allowed() ? "allow" : "deny ")
                    .append(" remaining=")
                    .append(outcome.remaining())
                    .append(" retry=")
                    .append(retry(outcome.retryAfterMicros()))
                    .append(" next=")
                    .append(LimitTexts.text(outcome.nextMicros()))
                    .append(" reset=")
                    .append(LimitTexts.text(outcome.resetMicros()));
        }
        return text.toString();
    }

    private static String retry(long micros) {
        return micros == LimitOutcome.UNKNOWN ? "unknown" : micros < 0 ? "never" : LimitTexts.text(micros);
    }

    @Override
    public String toString() {
        return ROOT.relativize(file).toString();
    }
}
