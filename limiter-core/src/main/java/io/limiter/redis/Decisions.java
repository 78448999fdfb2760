package io.limiter.redis;

import io.limiter.Backend.Decider;
import io.limiter.Backend.Mode;
import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.Settlement;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls that decide or reserve, and those that end what was taken: settle it, give it back, confirm or reset it. No call is sent
 * for a denial that is known already. {@link DenialCache} holds the latest denials, {@link CallsInFlight} the calls in flight of this
 * instance; this class has no state of its own. {@link Slots} decides charges that no script can decide together. Thread-safe.
 */
final class Decisions implements CallsInFlight.Sender {
    private static final TimeSource TIME = TimeSource.system();

    private final Connection connection;
    private final RedisKeys keys;
    private final DenialCache denials;
    private final Duration deadline;
    final CallsInFlight flights;

    Decisions(Connection connection, RedisKeys keys, DenialCache denials, Duration deadline) {
        this.connection = connection;
        this.keys = keys;
        this.denials = denials;
        this.deadline = deadline;
        this.flights = new CallsInFlight(TIME, this);
    }

    private Duration deadline(Policy policy) {
        return Objects.requireNonNullElse(policy.deadline(), deadline);
    }

    CompletableFuture<Decision> decide(List<Charge> charges, Mode mode) {
        Decision known = known(charges, mode);
        return known == null
                ? askRedis(charges, mode, null, connection::send)
                : CompletableFuture.completedFuture(known);
    }

    List<CompletableFuture<Decision>> each(List<Charge> charges) {
        List<Call> calls = new ArrayList<>();
        List<CompletableFuture<Decision>> decisions = charges.stream()
                .map(charge -> askRedis(List.of(charge), Mode.TAKE, null, calls::add))
                .toList();
        connection.send(calls);
        return decisions;
    }

    CompletableFuture<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Decision known = known(charges, Mode.TAKE);
        return known == null
                ? askRedis(charges, Mode.TAKE, Held.of(terms), connection::send)
                : CompletableFuture.completedFuture(known);
    }

    /**
     * The decision by Redis, whatever is known here.
     *
     * @param held what makes it a reservation; null if it is none
     */
    private CompletableFuture<Decision> askRedis(
            List<Charge> charges, Mode mode, @Nullable Held held, Consumer<Call> sender) {
        List<Denial.SentCharge> sent = denials.beforeSend(charges, mode);
        Duration longest = Call.deadline(charges, deadline);
        if (areSpread(charges)) {
            return new Slots(charges, longest, held).decide(mode).thenApply(decision -> denials.record(sent, decision));
        }
        Call call = Call.now(parts(charges, scriptMode(mode), held), longest, false);
        if (held != null) {
            // Nobody would settle what is reserved after the caller stopped waiting.
            call.ifLate(late -> {
                if (late.stream().allMatch(LimitOutcome::allowed)) {
                    end(late, Call.BACK, !connection.isCluster(), held, longest);
                }
            });
        }
        sender.accept(call);
        return call.answer(outcomes -> denials.record(sent, Reply.decision(charges, outcomes)));
    }

    /** For a thread that waits, and charges that are not {@linkplain #areSpread spread}. */
    Decision now(List<Charge> charges, Mode mode) {
        Decision known = known(charges, mode);
        if (known == null) {
            Duration longest = Call.deadline(charges, deadline);
            connection.requireAsked(longest);
            known = askRedisNow(charges, mode, longest, denials.beforeSend(charges, mode));
        }
        return known;
    }

    Decider decider(Policy policy) {
        Duration longest = deadline(policy);
        int ofPolicy = DenialCache.hash(policy);
        return (key, permits, mode) -> {
            int hash = DenialCache.hash(ofPolicy, key);
            Decision known = mode == Mode.LOOK ? null : denials.find(policy, key, permits, hash);
            if (known == null && policy.isInFlight()) {
                known = flights.denial(List.of(new Charge(policy, key, permits)));
            }
            if (known == null) {
                connection.requireAsked(longest);
                Charge charge = new Charge(policy, key, permits);
                known = askRedisNow(List.of(charge), mode, longest, denials.beforeSend(charge, hash, mode));
            }
            return known;
        };
    }

    /** The denial that is known without Redis; null if there is none. */
    private @Nullable Decision known(List<Charge> charges, Mode mode) {
        Decision known = mode == Mode.LOOK ? null : denials.find(charges);
        return known == null ? flights.denial(charges) : known;
    }

    private Decision askRedisNow(List<Charge> charges, Mode mode, Duration longest, List<Denial.SentCharge> sent) {
        Call call = Call.now(parts(charges, scriptMode(mode), null), longest, true);
        return denials.record(sent, Reply.decision(charges, connection.sendAndWait(call)));
    }

    private static String scriptMode(Mode mode) {
        return mode == Mode.TAKE ? Call.TAKE : mode == Mode.LOOK ? Call.LOOK : Call.ASK;
    }

    private List<Call.Part> parts(List<Charge> charges, String scriptMode, @Nullable Held held) {
        List<Call.Part> parts = Call.parts(keys, charges, scriptMode);
        return flights.begin(held == null ? parts : held.reserving(parts));
    }

    /**
     * Whether they need several scripts: in a cluster, or if two have one key with different members, because a script
     * uses no state twice.
     */
    boolean areSpread(List<Charge> charges) {
        // No stream: called for each call.
        for (int i = 1; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            for (Charge other : charges.subList(0, i)) {
                boolean isOneState = charge.key().equals(other.key())
                        && charge.policy().name().equals(other.policy().name());
                if (isOneState || connection.isCluster()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What became of each outcome of a reservation. Never fails. */
    CompletableFuture<List<Settled>> settle(Decision decision, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        Map<LimitOutcome, Settled> settled = Collections.synchronizedMap(new IdentityHashMap<>());
        List<LimitOutcome> held = new ArrayList<>();
        for (LimitOutcome outcome : decision.outcomes()) {
            boolean isHeld =
                    outcome.policy().holds() > 0 && outcome.limit().algorithm().takesHolds();
            settled.put(outcome, new Settled(isHeld ? Settlement.ENDED : Settlement.SETTLED, 0));
            // A limit that grants nothing has no state.
            if (isHeld && outcome.limit().permits() > 0) {
                held.add(outcome);
            }
        }
        Duration longest = Call.deadline(decision.charges(), deadline);
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (List<LimitOutcome> ends : inCalls(keys, held, !connection.isCluster())) {
            List<Call.Part> parts = Held.of(terms).settling(parts(keys, ends, Call.BACK), actual);
            all.add(sendEnd(parts, longest).handle((replies, failure) -> {
                for (int i = 0; i < ends.size(); i++) {
                    Settled one =
                            failure == null ? Reply.settled(replies.get(i).stampMicros()) : Settled.failed(failure);
                    settled.put(ends.get(i), one);
                }
                return settled;
            }));
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(
                        none -> decision.outcomes().stream().map(settled::get).toList());
    }

    /** Ends what a decision took, {@link Call#BACK} or {@link Call#KEEP}: the outcomes of all states. */
    CompletableFuture<List<LimitOutcome>> end(Decision decision, String scriptMode) {
        Duration longest = Call.deadline(decision.charges(), deadline);
        return end(decision.outcomes(), scriptMode, !connection.isCluster(), null, longest)
                .thenCompose(answers -> answers.failure == null
                        ? CompletableFuture.completedFuture(answers.outcomes)
                        : CompletableFuture.failedFuture(answers.failure));
    }

    /**
     * Ends what the outcomes took. Never fails.
     *
     * @param inOne as for {@link #ends}
     * @param held the reservation that took it, which is cancelled; null if it is none
     */
    private CompletableFuture<Answers> end(
            List<LimitOutcome> outcomes, String scriptMode, boolean inOne, @Nullable Held held, Duration longest) {
        return Answers.of(ends(keys, outcomes, scriptMode, inOne).stream()
                .map(parts -> sendEnd(held == null ? parts : held.settling(parts, charge -> 0), longest)));
    }

    private CompletableFuture<List<LimitOutcome>> sendEnd(List<Call.Part> parts, Duration longest) {
        return denials.clearing(Call.now(parts, longest, false), connection::send);
    }

    /**
     * The calls that end what the outcomes took.
     *
     * @param inOne whether one call may have the states of several slots; else there is one for each charge
     */
    static List<List<Call.Part>> ends(RedisKeys keys, List<LimitOutcome> outcomes, String scriptMode, boolean inOne) {
        return inCalls(keys, outcomes, inOne).stream()
                .map(call -> parts(keys, call, scriptMode))
                .toList();
    }

    private static List<Call.Part> parts(RedisKeys keys, List<LimitOutcome> call, String scriptMode) {
        return call.stream()
                .map(one -> one.holder() instanceof CallsInFlight.FlightCall flight
                        ? flight.end()
                        : new Call.Part(
                                key(keys, one),
                                one.charge(),
                                one.limit(),
                                scriptMode + one.stampMicros(),
                                false,
                                null,
                                null))
                .toList();
    }

    private static String key(RedisKeys keys, LimitOutcome one) {
        return keys.of(one.policy(), one.charge().key(), one.limit());
    }

    /** The outcomes of each call. The script reads all states of a call before it writes one, so none can be there twice. */
    private static List<List<LimitOutcome>> inCalls(RedisKeys keys, List<LimitOutcome> outcomes, boolean inOne) {
        List<List<LimitOutcome>> calls = new ArrayList<>();
        for (LimitOutcome outcome : outcomes) {
            String key = key(keys, outcome);
            List<LimitOutcome> call = calls.stream()
                    .filter(one -> (inOne || one.get(0).charge().equals(outcome.charge()))
                            && one.stream().noneMatch(other -> key(keys, other).equals(key)))
                    .findFirst()
                    .orElseGet(ArrayList::new);
            if (call.isEmpty()) {
                calls.add(call);
            }
            call.add(outcome);
        }
        return calls;
    }

    CompletableFuture<Void> reset(Policy policy, PartitionKey key) {
        List<Call.Part> parts = Call.parts(keys, List.of(new Charge(policy, key, 0)), Call.RESET);
        // Calls that are in flight stay so.
        parts.removeIf(Call.Part::isInFlight);
        return parts.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : sendEnd(parts, deadline(policy)).thenApply(deleted -> null);
    }

    /** Sends a renewal or the end of a call in flight. */
    @Override
    public void send(Call.Part part) {
        Duration longest = deadline(part.charge().policy());
        if (part.mode().equals(Call.END)) {
            sendEnd(List.of(part), longest);
        } else {
            connection.send(Call.now(List.of(part), longest, false));
        }
    }

    @Override
    public void after(long micros, Runnable task) {
        connection.after(micros, task);
    }

    /** The results of several calls: the outcomes of those that were answered, and why another was not. */
    private record Answers(
            List<LimitOutcome> outcomes, @Nullable Throwable failure) {
        /** Never fails. */
        static CompletableFuture<Answers> of(Stream<CompletableFuture<List<LimitOutcome>>> calls) {
            List<CompletableFuture<List<LimitOutcome>>> all = calls.toList();
            return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                    .handle((none, failure) -> new Answers(
                            all.stream()
                                    .filter(one -> !one.isCompletedExceptionally())
                                    .flatMap(one -> one.join().stream())
                                    .toList(),
                            failure == null ? null : RedisFailure.of(failure)));
        }

        boolean isDenied() {
            return !outcomes.stream().allMatch(LimitOutcome::allowed);
        }
    }

    /**
     * One decision over charges in several slots of a cluster, which no script can access together: all are checked at the
     * same time, then taken in order, and given back on a late denial. Never over-admits; a call may briefly be denied
     * unnecessarily. A known denial is valid even if another node does not answer. A late one has the limits of its slot only.
     */
    private final class Slots {
        private final List<Charge> charges;
        private final Duration longest;
        private final @Nullable Held held;
        private final long dueMicros;

        /** A call with this deadline from now. */
        Slots(List<Charge> charges, Duration longest, @Nullable Held held) {
            this.charges = charges;
            this.longest = longest;
            this.held = held;
            this.dueMicros = TIME.nowMicros() + longest.toNanos() / 1_000;
        }

        CompletableFuture<Decision> decide(Mode mode) {
            return sendEach(mode == Mode.LOOK ? Call.SEE : Call.ASK).thenCompose(seen -> {
                if (seen.isDenied() || seen.failure != null || mode == Mode.ASK) {
                    return decision(seen);
                }
                return mode == Mode.TAKE
                        ? take(0, List.of(), seen.outcomes)
                        : sendEach(Call.LOOK).thenCompose(this::decision);
            });
        }

        /** Takes the charges from the i-th on, after what was taken before them. */
        private CompletableFuture<Decision> take(int i, List<LimitOutcome> taken, List<LimitOutcome> seen) {
            if (i == charges.size()) {
                return CompletableFuture.completedFuture(decision(taken));
            }
            // Permits that are granted after the caller stopped waiting must not be lost either.
            return connection
                    .send(call(charges.get(i), Call.TAKE).ifLate(late -> giveBackIfTaken(taken.size(), late, seen)))
                    .handle((outcomes, failure) -> {
                        if (failure != null) {
                            giveBack(taken, seen);
                            return CompletableFuture.<Decision>failedFuture(failure);
                        }
                        if (!outcomes.stream().allMatch(LimitOutcome::allowed)) {
                            CompletableFuture<Decision> denied =
                                    giveBack(taken, seen).thenApply(given -> decision(outcomes));
                            // It may be given back after the deadline; nobody waits for that.
                            connection.after(dueMicros - TIME.nowMicros(), () -> denied.complete(decision(outcomes)));
                            return denied;
                        }
                        List<LimitOutcome> more = new ArrayList<>(taken);
                        more.addAll(outcomes);
                        return take(i + 1, more, seen);
                    })
                    .thenCompose(decision -> decision);
        }

        private CompletableFuture<Decision> decision(Answers answers) {
            return answers.failure != null && !answers.isDenied()
                    ? CompletableFuture.failedFuture(answers.failure)
                    : CompletableFuture.completedFuture(decision(answers.outcomes));
        }

        /** Sends a call for each charge, all at once. Never fails. */
        private CompletableFuture<Answers> sendEach(String scriptMode) {
            return Answers.of(charges.stream().map(charge -> connection.send(call(charge, scriptMode))));
        }

        private void giveBackIfTaken(int before, List<LimitOutcome> late, List<LimitOutcome> seen) {
            if (late.stream().allMatch(LimitOutcome::allowed)) {
                giveBack(late, seen.subList(before, seen.size()));
            }
        }

        /**
         * Gives back what was taken by this decision. What an earlier call with the same request id took has the timestamp that was
         * seen before, and stays: that call was admitted.
         */
        private CompletableFuture<Answers> giveBack(List<LimitOutcome> taken, List<LimitOutcome> seen) {
            List<LimitOutcome> own = IntStream.range(0, taken.size())
                    .filter(i -> taken.get(i).charge().requestId() == null
                            || taken.get(i).stampMicros() != seen.get(i).stampMicros())
                    .mapToObj(taken::get)
                    .toList();
            return end(own, Call.BACK, false, held, longest);
        }

        private Call call(Charge charge, String scriptMode) {
            List<Call.Part> parts = parts(List.of(charge), scriptMode, held);
            return new Call(parts, longest.toNanos() / 1_000, TIME.nowMicros(), dueMicros, false);
        }

        private Decision decision(List<LimitOutcome> outcomes) {
            return Reply.decision(charges, outcomes);
        }
    }
}
