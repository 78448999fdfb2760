package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold.Settlement;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.HoldTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a {@link RedisBackend} that decide or reserve, and those that end what was taken: settle it, give it back, confirm or reset
 * it. No call is sent for a denial that is known already. {@link DenialCache} holds the latest denials, {@link CallsInFlight} the calls in
 * flight of this instance; this class has no state of its own. {@link Slots} decides charges that no script can decide together.
 * Thread-safe.
 */
abstract class Decisions implements Backend {
    private static final TimeSource TIME = TimeSource.system();

    final Connection connection;
    final DenialCache denials;
    final CallsInFlight flights;
    private final RedisKeys keys;
    private final Duration deadline;

    Decisions(RedisKeys keys, Connection connection, DenialCache denials, Duration deadline) {
        this.keys = keys;
        this.connection = connection;
        this.denials = denials;
        this.deadline = deadline;
        this.flights = new CallsInFlight(TIME, new FlightSender());
    }

    private Duration deadline(Policy policy) {
        return Objects.requireNonNullElse(policy.deadline(), deadline);
    }

    @Override
    public CompletableFuture<Decision> decide(List<Charge> charges, Mode mode) {
        return decide(charges, mode, null, connection::send);
    }

    @Override
    public CompletableFuture<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        return decide(charges, Mode.TAKE, Held.of(terms), connection::send);
    }

    private CompletableFuture<Decision> decide(
            List<Charge> charges, Mode mode, @Nullable Held held, Consumer<Call> sender) {
        Decision known = known(charges, mode);
        return known == null ? askRedis(charges, mode, held, sender) : CompletableFuture.completedFuture(known);
    }

    @Override
    public List<CompletableFuture<Decision>> decideEach(List<Charge> charges) {
        List<Call> calls = new ArrayList<>();
        List<CompletableFuture<Decision>> decisions = charges.stream()
                .map(charge -> decide(List.of(charge), Mode.TAKE, null, calls::add))
                .toList();
        connection.send(calls);
        return decisions;
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
                    end(late, Call.BACK, held, longest);
                }
            });
        }
        sender.accept(call);
        return call.answer(outcomes -> denials.record(sent, Reply.decision(charges, outcomes)));
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        if (areSpread(charges)) {
            return Backend.super.decideNow(charges, mode);
        }
        Decision known = known(charges, mode);
        if (known == null) {
            Duration longest = Call.deadline(charges, deadline);
            connection.requireAvailable(longest);
            known = askRedisNow(charges, mode, longest, denials.beforeSend(charges, mode));
        }
        return known;
    }

    @Override
    public Decider decider(Policy policy) {
        Duration longest = deadline(policy);
        int ofPolicy = policy.name().hashCode();
        return (key, permits, mode) -> {
            int hash = key.hashWith(ofPolicy);
            // As known(...) does, without a list for each call.
            Decision known = mode == Mode.LOOK ? null : denials.find(policy, key, permits, hash);
            if (known == null && policy.isInFlight()) {
                known = flights.denial(List.of(new Charge(policy, key, permits)));
            }
            if (known == null) {
                connection.requireAvailable(longest);
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
    private boolean areSpread(List<Charge> charges) {
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

    @Override
    public CompletableFuture<List<Settled>> settle(
            Decision decision, HoldTerms terms, ToLongFunction<? super Charge> actual) {
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
        List<List<LimitOutcome>> ends = List.copyOf(byCharge(held));
        List<CompletableFuture<List<LimitOutcome>>> replies = sendEnds(
                ends.stream().map(one -> Held.of(terms).settling(parts(keys, one, Call.BACK), actual)), longest);
        // By handle, so that none of them fails. What they complete with is not used: the results are in the map.
        CompletableFuture<?>[] all = IntStream.range(0, ends.size())
                .mapToObj(i -> replies.get(i).handle((reply, failure) -> {
                    for (int part = 0; part < ends.get(i).size(); part++) {
                        Settled one = failure == null
                                ? Reply.settled(reply.get(part).stampMicros())
                                : Settled.failed(failure);
                        settled.put(ends.get(i).get(part), one);
                    }
                    return settled;
                }))
                .toArray(CompletableFuture[]::new);
        return CompletableFuture.allOf(all)
                .thenApply(
                        none -> decision.outcomes().stream().map(settled::get).toList());
    }

    @Override
    public CompletableFuture<Boolean> refund(Decision decision) {
        return end(decision, Call.BACK).thenApply(ended -> ended.stream().anyMatch(LimitOutcome::allowed));
    }

    @Override
    public CompletableFuture<Boolean> confirm(Decision decision) {
        return end(decision, Call.KEEP).thenApply(ended -> ended.stream().allMatch(LimitOutcome::allowed));
    }

    /** Ends what a decision took, {@link Call#BACK} or {@link Call#KEEP}: the outcomes of all states. */
    private CompletableFuture<List<LimitOutcome>> end(Decision decision, String scriptMode) {
        return end(decision.outcomes(), scriptMode, null, Call.deadline(decision.charges(), deadline))
                .thenCompose(answers -> answers.failure == null
                        ? CompletableFuture.completedFuture(answers.outcomes)
                        : CompletableFuture.failedFuture(answers.failure));
    }

    /**
     * Ends what the outcomes took. Never fails.
     *
     * @param held the reservation that took it, which is cancelled; null if it is none
     */
    private CompletableFuture<Answers> end(
            List<LimitOutcome> outcomes, String scriptMode, @Nullable Held held, Duration longest) {
        return Answers.of(sendEnds(
                ends(keys, outcomes, scriptMode).stream()
                        .map(parts -> held == null ? parts : held.settling(parts, charge -> 0)),
                longest));
    }

    private CompletableFuture<List<LimitOutcome>> sendEnd(List<Call.Part> parts, Duration longest) {
        return sendEnds(Stream.of(parts), longest).get(0);
    }

    /** Sends a call for each of these, all at once: they leave in one command where they can. */
    private List<CompletableFuture<List<LimitOutcome>>> sendEnds(Stream<List<Call.Part>> ends, Duration longest) {
        List<Call> together = new ArrayList<>();
        List<CompletableFuture<List<LimitOutcome>>> answers = ends.map(
                        parts -> denials.clearing(Call.now(parts, longest, false), call -> {
                            together.add(call);
                            return call.future();
                        }))
                .toList();
        connection.send(together);
        return answers;
    }

    /** The calls that end what the outcomes took, one for each charge. */
    static List<List<Call.Part>> ends(RedisKeys keys, List<LimitOutcome> outcomes, String scriptMode) {
        return byCharge(outcomes).stream()
                .map(one -> parts(keys, one, scriptMode))
                .toList();
    }

    /** The outcomes of each charge. Those of two can have one state, which no script uses twice. */
    private static Collection<List<LimitOutcome>> byCharge(List<LimitOutcome> outcomes) {
        return outcomes.stream()
                .collect(Collectors.groupingBy(
                        one -> List.of(
                                one.policy().name(),
                                one.charge().key(),
                                one.charge().memberText()),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values();
    }

    private static List<Call.Part> parts(RedisKeys keys, List<LimitOutcome> outcomes, String scriptMode) {
        return outcomes.stream()
                .map(one -> one.holder() instanceof CallsInFlight.FlightCall flight
                        ? flight.end()
                        : new Call.Part(
                                keys.of(one.policy(), one.charge().key(), one.limit()),
                                one.charge(),
                                one.limit(),
                                scriptMode + one.stampMicros(),
                                false,
                                null,
                                null))
                .toList();
    }

    @Override
    public CompletableFuture<Void> reset(Policy policy, PartitionKey key) {
        List<Call.Part> parts = Call.parts(keys, List.of(new Charge(policy, key, 0)), Call.RESET);
        // Calls that are in flight stay so.
        parts.removeIf(Call.Part::isInFlight);
        return parts.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : sendEnd(parts, deadline(policy)).thenApply(deleted -> null);
    }

    /** Sends renewals and ends of calls in flight. */
    private final class FlightSender implements CallsInFlight.Sender {
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
    }

    /** The results of several calls: the outcomes of those that were answered, and why another was not. */
    private record Answers(
            List<LimitOutcome> outcomes, @Nullable Throwable failure) {
        /** Never fails. */
        static CompletableFuture<Answers> of(List<CompletableFuture<List<LimitOutcome>>> all) {
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
            return Answers.of(charges.stream()
                    .map(charge -> connection.send(call(charge, scriptMode)))
                    .toList());
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
            return end(own, Call.BACK, held, longest);
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
