package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One instance whose calls are in flight, and a Redis of which nothing is certain: commands overtake each other, answers come after the
 * deadline or never, Redis is away, and forgets. What it holds is what runs, and after the last end nothing at once. Each step that the
 * protocol lacks is noticed.
 */
class FlightProtocolTest {
    private static final Policy POLICY = Policy.of("calls", Limit.concurrent(8, Duration.ofSeconds(3)));
    private static final PartitionKey KEY = PartitionKey.of("key");
    private static final long SECOND = 1_000_000;
    private static final long DEADLINE = 50_000;
    /** Longer than the instance believes, so that nothing that it forgot to end runs out unseen. */
    private static final long HOLD = 60 * SECOND;

    private static final BackendException NO_ANSWER = new BackendException("no answer");

    /** A step that is left out, or done wrongly. */
    enum Fault {
        NONE,
        AN_END_IS_SENT_ONCE,
        AN_END_WITHOUT_AN_ANSWER_IS_FORGOTTEN,
        AN_END_IS_THAT_OF_ANOTHER_CALL,
        A_TAKE_WITHOUT_AN_ANSWER_IS_A_DENIAL,
        WHAT_COMES_LATE_IS_NOT_NOTICED,
        NOTHING_IS_RENEWED,
        WHAT_IS_RENEWED_IS_ADDED,
        WHAT_IS_MISSING_IS_NOT_NOTICED,
        WHAT_IS_MISSING_IS_NOT_ADDED,
        WHAT_IS_ADDED_IS_ADDED_FOR_EVER
    }

    /** The instance, its Redis and what is between them, in a time of their own. */
    private static final class World implements CallsInFlight.Sender, TimeSource {
        private record Event(long micros, long number, Runnable task) {}

        private final Fault fault;
        private final Random random;
        private final PriorityQueue<Event> events =
                new PriorityQueue<>(Comparator.comparingLong(Event::micros).thenComparingLong(Event::number));
        private final RedisKeys keys = new RedisKeys("protocol", null);
        private final CallsInFlight flights = new CallsInFlight(this, this);
        /** What Redis holds: until when. */
        private final Map<String, Long> held = new HashMap<>();

        private final Map<String, LimitOutcome> running = new HashMap<>();
        private final Set<String> ended = new HashSet<>();
        private boolean isCalm;
        private boolean isAway;
        private long now;
        private long sent;
        private int most;

        World(Fault fault, long seed) {
            this.fault = fault;
            this.random = new Random(seed);
        }

        @Override
        public long nowMicros() {
            return now;
        }

        @Override
        public long unixMicros() {
            return now;
        }

        @Override
        public void after(long micros, Runnable task) {
            events.add(new Event(now + micros, ++sent, task));
        }

        void run(long micros) {
            long until = now + micros;
            while (!events.isEmpty() && events.peek().micros <= until) {
                Event next = events.remove();
                now = next.micros;
                next.task.run();
            }
            now = until;
        }

        @Override
        public void send(Call.Part part) {
            transmit(List.of(part));
        }

        /** A call of the application, which lasts for some time, or until the end of the test. */
        void enter() {
            Charge one = new Charge(POLICY, KEY, 1);
            transmit(flights.begin(Call.parts(keys, List.of(one), Call.TAKE)));
        }

        /** A call that Redis may have decided. */
        void unanswered(long permits) {
            List<Call.Part> parts = Call.parts(keys, List.of(new Charge(POLICY, KEY, permits)), Call.TAKE);
            CallsInFlight.answered(flights.begin(parts), null, true);
        }

        private void begun(LimitOutcome outcome) {
            String id = ((CallsInFlight.FlightCall) Objects.requireNonNull(outcome.holder())).id;
            running.put(id, outcome);
            most = Math.max(most, running.size());
            int length = random.nextInt(20);
            if (length > 0) {
                after(random.nextInt(length > 6 ? 200_000 : 4_000_000), () -> end(id));
            }
        }

        private void end(String id) {
            LimitOutcome outcome = running.remove(id);
            if (outcome != null) {
                Objects.requireNonNull(outcome.holder()).end(outcome);
            }
        }

        void endAll() {
            List.copyOf(running.keySet()).forEach(this::end);
        }

        private void transmit(List<Call.Part> parts) {
            Call call = new Call(parts, DEADLINE, now, now + DEADLINE, false);
            Call.Part part = parts.get(0);
            if (part.mode().equals(Call.TAKE)) {
                call.future()
                        .thenAccept(outcomes -> outcomes.stream()
                                .filter(LimitOutcome::isInFlight)
                                .forEach(this::begun));
            }
            if (isAway) {
                call.tryFail(Call.State.WAITING, NO_ANSWER);
                return;
            }
            call.trySend(now, null);
            long runs = isCalm || random.nextInt(4) > 0 ? 1_000 : random.nextInt(400_000);
            boolean isLost = !isCalm && random.nextInt(10) == 0;
            boolean neverRuns = isLost && random.nextBoolean();
            after(runs, () -> {
                List<Object> reply = neverRuns ? List.of() : ran(part);
                long back = isCalm || random.nextInt(4) > 0 ? 1_000 : random.nextInt(100_000);
                after(back, () -> answer(call, part, isLost ? NO_ANSWER : reply));
            });
            after(DEADLINE, () -> {
                if (call.tryEnd(Call.State.SENT)) {
                    call.deliver(told(part, NO_ANSWER));
                }
            });
        }

        private void answer(Call call, Call.Part part, Object answer) {
            if (call.tryEnd(Call.State.SENT)) {
                call.deliver(told(part, answer));
            } else if (fault != Fault.WHAT_COMES_LATE_IS_NOT_NOTICED) {
                call.deliverLate(answer);
            }
        }

        /** What the instance notices of an answer. */
        private Object told(Call.Part part, Object answer) {
            boolean isLost = answer instanceof BackendException;
            return switch (fault) {
                case AN_END_WITHOUT_AN_ANSWER_IS_FORGOTTEN ->
                    isLost && part.mode().equals(Call.END) ? reply(true) : answer;
                case A_TAKE_WITHOUT_AN_ANSWER_IS_A_DENIAL -> isLost && part.begins() ? reply(false) : answer;
                case WHAT_IS_ADDED_IS_ADDED_FOR_EVER -> part.mode().equals(Call.AGAIN) ? NO_ANSWER : answer;
                default -> answer;
            };
        }

        private List<Object> reply(boolean allowed) {
            return List.of(allowed ? 1L : 0L, 8L - held.size(), allowed ? 0L : -8L, 0L, 0L, 0L);
        }

        /** What Redis does. */
        private List<Object> ran(Call.Part part) {
            String id = Objects.requireNonNull(part.flight()).id;
            held.values().removeIf(ends -> ends <= now);
            boolean wasHeld = held.containsKey(id);
            switch (part.mode()) {
                case Call.END -> {
                    boolean isAgain = !ended.add(id);
                    if (fault == Fault.AN_END_IS_THAT_OF_ANOTHER_CALL && !held.isEmpty()) {
                        id = held.keySet().iterator().next();
                    }
                    if (fault != Fault.AN_END_IS_SENT_ONCE || !isAgain) {
                        held.remove(id);
                    }
                    return reply(wasHeld);
                }
                case Call.RENEW -> {
                    if (wasHeld && fault != Fault.NOTHING_IS_RENEWED || fault == Fault.WHAT_IS_RENEWED_IS_ADDED) {
                        held.put(id, now + HOLD);
                    }
                    return reply(wasHeld
                            || fault == Fault.WHAT_IS_MISSING_IS_NOT_NOTICED
                            || fault == Fault.NOTHING_IS_RENEWED
                            || fault == Fault.WHAT_IS_RENEWED_IS_ADDED);
                }
                case Call.AGAIN -> {
                    if (fault != Fault.WHAT_IS_MISSING_IS_NOT_ADDED) {
                        held.put(id, now + HOLD);
                    }
                    return reply(true);
                }
                default -> {
                    boolean allowed = held.size() < 8;
                    if (allowed) {
                        held.put(id, now + HOLD);
                    }
                    return reply(allowed);
                }
            }
        }
    }

    /** What is wrong in the end; empty for nothing. */
    private static String findings(Fault fault, long seed) {
        World world = new World(fault, seed);
        boolean forgets = seed % 2 == 0;
        List<String> found = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            world.enter();
            world.run(world.random.nextInt(20_000));
            if (forgets && i % 300 == 200) {
                world.held.clear();
            }
            if (i % 300 == 100) {
                world.isAway = true;
                world.run(SECOND);
                world.isAway = false;
            }
        }
        if (!forgets && world.most > 8) {
            found.add(world.most + " at once");
        }
        world.isCalm = true;
        // So long that all is noticed, and so short that nothing has run out.
        world.run(15 * SECOND);
        if (!world.held.keySet().equals(world.running.keySet())) {
            found.add("held: " + world.held.keySet() + ", running: " + world.running.keySet());
        }
        long before = world.sent;
        world.run(HOLD + 15 * SECOND);
        world.held.values().removeIf(ends -> ends <= world.now);
        if (!world.held.keySet().equals(world.running.keySet())) {
            found.add("held later: " + world.held.keySet() + ", running: " + world.running.keySet());
        }
        // Each renewal, one a second, is four events here, and what is due is looked for 20 times a second.
        if (world.sent - before > 75 * (20 + 5L * world.running.size())) {
            found.add(world.sent - before + " events");
        }
        world.endAll();
        world.run(SECOND);
        if (world.flights.size() > 0 || !world.held.isEmpty()) {
            found.add("after the end: " + world.flights.size() + ", held " + world.held.keySet());
        }
        return String.join("; ", found);
    }

    /** For its end Redis would go through all of them, and do nothing else for minutes. */
    @Test
    void whatIsNeverGrantedHasNoEnd() {
        World world = new World(Fault.NONE, 1);
        world.unanswered(8);
        assertEquals(1, world.flights.size());
        world.unanswered(9);
        world.unanswered(1_000_000_000);
        assertEquals(1, world.flights.size());
    }

    /** As while Redis refuses to write: 5 000 a second may be held for 3 s. */
    @Test
    void whatFailsDeniesNothingAndIsForgotten() {
        World world = new World(Fault.NONE, 1);
        world.isAway = true;
        for (int i = 0; i < 6_000; i++) {
            LongStream.range(0, 5).forEach(one -> world.unanswered(1));
            world.run(1_000);
        }
        assertTrue(world.flights.size() < 16_000, world.flights.size() + " calls");
        assertNull(world.flights.denial(List.of(new Charge(POLICY, KEY, 1))));
        LongStream.range(0, 100_000).forEach(one -> world.unanswered(1));
        assertEquals(100_000, world.flights.size());
    }

    static LongStream seeds() {
        return LongStream.range(1, 19);
    }

    /** Several thousand calls, so that each order of a renewal, a repetition and an end is there. */
    @ParameterizedTest
    @MethodSource("seeds")
    void whatIsHeldIsWhatRuns(long seed) {
        assertEquals("", findings(Fault.NONE, seed));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aStepThatIsLeftOutIsNoticed(Fault fault) {
        String found = "";
        for (long seed = 1; seed <= 40 && found.isEmpty(); seed++) {
            found = findings(fault, seed);
        }
        assertNotEquals("", found);
    }
}
