package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.BackendException.Kind;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** A connection to a master whose transport, timer and clock the test controls. A fault that makes it loop must fail its test, not hang it. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD)
abstract class MasterLinkFixture {
    static final Duration DEADLINE = Duration.ofMillis(50);

    final ManualTime time = new ManualTime();
    final List<Command.Receiver> sent = new ArrayList<>();
    final List<Command> commands = new ArrayList<>();
    /** How many probes and self-tests were sent. None has an answer, unless it is {@link #refused}. */
    int probes;

    @Nullable
    Throwable refused;

    @Nullable
    Throwable failing;

    /** Of the threads that would read the answers. */
    CompletableFuture<Long> lateness = CompletableFuture.completedFuture(0L);

    final List<Later> later = new ArrayList<>();
    /** Whether it is a master of a cluster. */
    boolean isCluster;
    /** What happens once before the next command is made, when its calls have left the queue. */
    Runnable beforeSending = () -> {};

    private final Transport transport = new FakeTransport() {
        @Override
        public boolean isCluster() {
            Runnable now = beforeSending;
            beforeSending = () -> {};
            now.run();
            return isCluster;
        }

        @Override
        public void run(Object master, Command command, Command.Receiver then) {
            if (command.keys().get(0).toString().contains("limiter-self-test")) {
                probes++;
                if (refused != null) {
                    then.accept(null, refused);
                }
                return;
            }
            commands.add(command);
            sent.add(then);
            if (failing instanceof Error error) {
                throw error;
            } else if (failing != null) {
                then.accept(null, failing);
            }
        }

        @Override
        public void after(long micros, Runnable task) {
            later.add(new Later(time.nowMicros() + micros, task));
        }

        @Override
        public CompletableFuture<Long> latenessMicros(long longestMicros) {
            return lateness;
        }
    };
    final MasterLink link = link(time);
    final MasterHealth health = link.health;

    MasterLink link(TimeSource clock) {
        SelfTest test = new SelfTest(transport, new RedisKeys("p", null), FakeTransport.MASTER, clock);
        return new MasterLink(test, clock, null, DEADLINE, Runnable::run, former -> {});
    }

    record Later(long dueMicros, Runnable task) {}

    /** Somebody who asks. */
    final class Asker {
        final CompletableFuture<List<LimitOutcome>> answer;

        Asker() {
            this(DEADLINE);
        }

        Asker(Duration longest) {
            this(call(time.nowMicros(), longest, false));
        }

        Asker(Call call) {
            link.send(call);
            this.answer = call.future();
        }

        /** The deadline has passed. */
        Kind giveUp() {
            runLater();
            return failure();
        }

        Kind failure() {
            assertTrue(answer.isDone(), "it waits");
            CompletionException thrown = assertThrows(CompletionException.class, answer::join);
            return ((BackendException) thrown.getCause()).kind();
        }
    }

    List<Asker> askers(int count) {
        return askers(count, DEADLINE);
    }

    List<Asker> askers(int count, Duration longest) {
        return IntStream.range(0, count).mapToObj(i -> new Asker(longest)).toList();
    }

    static Call call(long now, Duration longest, boolean blocking) {
        return call("k", Limit.fixedWindow(3, Duration.ofSeconds(10)), 1, now, longest, blocking);
    }

    /** A call for this number of permits of a log. */
    Call logCall(long permits) {
        Limit log = Limit.slidingList(permits, Duration.ofSeconds(10));
        return call("k", log, permits, time.nowMicros(), DEADLINE, false);
    }

    /** A call for another key. */
    Call callOf(String key) {
        return call(key, Limit.fixedWindow(3, Duration.ofSeconds(10)), 1, time.nowMicros(), DEADLINE, false);
    }

    private static Call call(String key, Limit limit, long permits, long now, Duration longest, boolean blocking) {
        Charge charge = new Charge(Policy.of("p", limit), PartitionKey.of(key), permits);
        List<Call.Part> parts = Call.parts(new RedisKeys("p", null), List.of(charge), Call.TAKE);
        long longestMicros = longest.toNanos() / 1_000;
        return new Call(parts, longestMicros, now, now + longestMicros, blocking);
    }

    /** Answers the calls of a command: each is allowed. */
    void answer(int i) {
        List<Object> numbers = List.of(1L, 2L, 0L, 0L, 0L, 0L);
        List<List<Call>> requests = commands.get(i).requests();
        sent.get(i).accept(commands.get(i).calls().size() == 1 ? numbers : repeated(numbers, requests), null);
    }

    private static List<Object> repeated(List<Object> numbers, List<List<Call>> requests) {
        List<Object> replies = new ArrayList<>();
        for (List<Call> request : requests) {
            replies.add((long) request.size() * numbers.size());
            request.forEach(call -> replies.addAll(numbers));
        }
        return replies;
    }

    /** How many calls a command has. */
    int calls(int i) {
        return commands.get(i).calls().size();
    }

    void fail(int i, Throwable failure) {
        sent.get(i).accept(null, failure);
    }

    /** What is to be done by now. */
    void runLater() {
        List<Later> due =
                later.stream().filter(one -> one.dueMicros <= time.nowMicros()).toList();
        later.removeAll(due);
        due.forEach(one -> one.task.run());
    }
}
