package io.limiter.kit;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.Algorithm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the limits mean, written from the rules alone: slow, single-threaded, unbounded numbers, nothing clever. An
 * independent opinion beside the two twins.
 */
public final class NaiveLimiter {
    private record Name(String policy, String limit, Algorithm algorithm, String key) {}

    record Entry(long stamp, @Nullable String id) {}

    static final class Kept {
        long count;
        long end;
        List<Entry> log = new ArrayList<>();
        NaiveBucket bucket = new NaiveBucket();
        NaiveBlock block = new NaiveBlock();
        NaiveStock stock = new NaiveStock();
        NaiveHolds holds = new NaiveHolds();
    }

    private final Map<Name, Kept> states = new HashMap<>();

    /** Decides as a backend does. */
    public List<LimitOutcome> decide(List<Charge> charges, Mode mode, long now) {
        boolean allowed = true;
        if (mode == Mode.TAKE) {
            tidy(charges, now);
        }
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                allowed &= look(charge, limit, now).allowed();
            }
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            boolean denied = false;
            for (Limit limit : charge.policy().limits()) {
                if (limit.algorithm() == Algorithm.BLOCK && denied && mode == Mode.TAKE) {
                    Kept kept = kept(charge, limit);
                    kept.block.settle(limit, now);
                    kept.block.count(limit, now);
                }
                LimitOutcome outcome = decide(charge, limit, mode, allowed, now);
                denied |= !outcome.allowed() && limit.algorithm() != Algorithm.CONCURRENT;
                outcomes.add(outcome);
            }
        }
        return outcomes;
    }

    /** One limit's part. A look that is allowed answers as if it took; else it answers what is so without a call. */
    LimitOutcome decide(Charge charge, Limit limit, Mode mode, boolean allAllow, long now) {
        boolean charges = allAllow && charge.permits() > 0;
        if (charge.permits() == 0 || limit.permits() == 0 || (mode == Mode.LOOK && !charges)) {
            return look(charge, limit, now);
        }
        Kept kept = kept(charge, limit);
        Kept copy = copy(kept);
        settle(kept, limit, now);
        LimitOutcome settled = look(charge, limit, now);
        if (!charges) {
            return settled;
        }
        long stamp =
                limit.algorithm() == Algorithm.ALLOTMENT ? kept.stock.stamp(charge, limit, now) : settled.stampMicros();
        take(kept, charge, limit, stamp, now);
        LimitOutcome after = look(new Charge(charge.policy(), charge.key(), 0), limit, now);
        if (mode == Mode.LOOK) {
            states.put(name(charge, limit), copy);
        }
        return LimitOutcome.of(
                charge,
                limit,
                true,
                after.remaining(),
                0,
                after.nextMicros(),
                after.resetMicros(),
                switch (limit.algorithm()) {
                    case FIXED_WINDOW -> after.stampMicros();
                    case DISTINCT -> isKnown(copy, charge, now) ? 0 : now;
                    case CONCURRENT -> 0;
                    default -> stamp;
                });
    }

    /** Gives back what a decision took, without calls in flight; whether that was anything. */
    boolean refund(Decision decision, long now) {
        boolean given = false;
        for (LimitOutcome outcome : decision.outcomes()) {
            given |= outcome.charge().permits() > 0
                    && outcome.limit().permits() > 0
                    && !outcome.isInFlight()
                    && refund(outcome, now);
        }
        return given;
    }

    /** Gives back what an outcome took. */
    public boolean refund(LimitOutcome outcome, long now) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        Kept kept = kept(charge, limit);
        if (limit.algorithm() == Algorithm.ALLOTMENT) {
            return kept.stock.refund(outcome, now);
        }
        NaiveReservations.tidy(kept, limit, now);
        boolean given = refund(kept, charge, limit, outcome.stampMicros(), now);
        if (isOfTheFour(limit)) {
            settle(kept, limit, now);
        }
        return given;
    }

    private static boolean refund(Kept kept, Charge charge, Limit limit, long stamp, long now) {
        long n = charge.permits();
        switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                if (kept.count == 0 || kept.end <= now || kept.end != stamp) {
                    return false;
                }
                kept.count = Math.max(0, kept.count - n);
                return true;
            }
            case SLIDING_LIST, SLIDING_ZSET -> {
                List<Entry> left = new ArrayList<>();
                for (Entry entry : kept.log) {
                    boolean own = entry.stamp == stamp
                            && entry.stamp > now - limit.periodMicros()
                            && Objects.equals(entry.id, charge.requestId());
                    if (own && n > 0) {
                        n--;
                    } else {
                        left.add(entry);
                    }
                }
                boolean given = left.size() < kept.log.size();
                kept.log = left;
                return given;
            }
            case DISTINCT -> {
                boolean own = kept.end > now
                        && n > 0
                        && kept.log.removeIf(entry -> entry.stamp == stamp && isOf(charge, entry));
                if (own) {
                    kept.end = Math.min(kept.end, now + limit.periodMicros());
                }
                return own;
            }
            case TOKEN_BUCKET -> {
                return kept.bucket.refund(limit, n, stamp, now);
            }
            case CONCURRENT -> {
                boolean held = kept.count > 0;
                kept.count = Math.max(0, kept.count - n);
                return held;
            }
            case BLOCK, ALLOTMENT -> {
                return false;
            }
        }
        throw new AssertionError(limit);
    }

    /** Keeps what an outcome took of a stock. */
    public boolean confirm(LimitOutcome outcome, long now) {
        return kept(outcome.charge(), outcome.limit()).stock.confirm(outcome, now);
    }

    /** Forgets what a charge's key used. */
    public void reset(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            Kept forgotten = states.remove(name(charge, limit));
            if (forgotten != null && limit.algorithm() == Algorithm.CONCURRENT) {
                // Calls stay in flight.
                states.put(name(charge, limit), forgotten);
            }
        }
    }

    LimitOutcome look(Charge charge, Limit limit, long now) {
        long n = charge.permits();
        if (limit.permits() == 0) {
            return LimitOutcome.of(charge, limit, n == 0, 0, n == 0 ? 0 : -1, 0, 0, now);
        }
        return look(charge, limit, now, kept(charge, limit));
    }

    private static LimitOutcome look(Charge charge, Limit limit, long now, Kept kept) {
        long n = charge.permits();
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                long count = kept.end > now ? kept.count : 0;
                long end = count > 0 ? Math.min(kept.end, NaiveCalendar.latestEnd(limit, now)) : 0;
                boolean allowed = n == 0 || count + n <= limit.permits();
                long left = count > 0 ? end - now : 0;
                long retry = allowed ? 0 : n > limit.permits() ? -1 : left;
                yield LimitOutcome.of(
                        charge, limit, allowed, Math.max(0, limit.permits() - count), retry, left, left, end);
            }
            case SLIDING_LIST, SLIDING_ZSET -> NaiveLog.look(charge, limit, now, kept.log);
            case DISTINCT -> {
                long count = kept.end > now ? kept.log.size() : 0;
                boolean known = isKnown(kept, charge, now);
                boolean allowed = n == 0 || (known ? !limit.deniesRepeats() : count < limit.permits());
                long left = count > 0 ? kept.end - now : 0;
                yield LimitOutcome.of(
                        charge, limit, allowed, Math.max(0, limit.permits() - count), left, left, left, 0);
            }
            case TOKEN_BUCKET -> kept.bucket.look(charge, limit, kept.holds.held(), kept.holds.lastEnd(now), now);
            case BLOCK -> kept.block.look(charge, limit, now);
            case CONCURRENT ->
                LimitOutcome.of(
                        charge,
                        limit,
                        n == 0 || kept.count + n <= limit.permits(),
                        Math.max(0, limit.permits() - kept.count),
                        n > limit.permits() ? LimitOutcome.NEVER : LimitOutcome.UNKNOWN,
                        0,
                        0,
                        0);
            case ALLOTMENT -> kept.stock.look(charge, limit, now);
        };
    }

    private static boolean isKnown(Kept kept, Charge charge, long now) {
        return kept.end > now && kept.log.stream().anyMatch(entry -> isOf(charge, entry));
    }

    private static boolean isOf(Charge charge, Entry entry) {
        return member(charge).equals(entry.id);
    }

    /** The whole of it, however long it is. */
    private static String member(Charge charge) {
        return charge.member() == null ? "the missing member" : charge.member().canonical();
    }

    /**
     * What every call that may write does, also one that is denied: it makes what is kept fit the present clock and limit.
     * Nothing is later than now allows.
     */
    static void settle(Kept kept, Limit limit, long now) {
        switch (limit.algorithm()) {
            case FIXED_WINDOW, DISTINCT -> kept.end = Math.min(kept.end, NaiveCalendar.latestEnd(limit, now));
            case SLIDING_LIST, SLIDING_ZSET -> {
                if (isCut(kept, limit, now)) {
                    kept.log = NaiveLog.live(kept.log, limit, now);
                }
            }
            case TOKEN_BUCKET -> kept.bucket.settle(limit, now);
            case BLOCK -> kept.block.settle(limit, now);
            case ALLOTMENT -> kept.stock.settle(limit, now);
            case CONCURRENT -> {
                // Calls are in flight at any time.
            }
        }
    }

    /** Whether the present clock or limit makes something end earlier than it is kept. */
    private static boolean isCut(Kept kept, Limit limit, long now) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW, DISTINCT -> kept.end > NaiveCalendar.latestEnd(limit, now);
            case SLIDING_LIST, SLIDING_ZSET -> kept.log.stream().anyMatch(entry -> entry.stamp > now);
            case TOKEN_BUCKET -> kept.bucket.isCut(limit, now);
            case BLOCK, ALLOTMENT, CONCURRENT -> false;
        };
    }

    private static boolean isOfTheFour(Limit limit) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW, SLIDING_LIST, SLIDING_ZSET, TOKEN_BUCKET -> true;
            case DISTINCT, BLOCK, ALLOTMENT, CONCURRENT -> false;
        };
    }

    /** The same of any limit of the charges: then each look answers anew, and the times that one tells need a call that writes. */
    public boolean areCut(List<Charge> charges, long now) {
        return charges.stream()
                .anyMatch(charge -> charge.policy().limits().stream()
                        .filter(limit -> limit.permits() > 0 && isOfTheFour(limit))
                        .anyMatch(limit -> isCut(kept(charge, limit), limit, now)));
    }

    /** The first step of a call that may write. */
    void tidy(List<Charge> charges, long now) {
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                if (charge.permits() > 0
                        && limit.permits() > 0
                        && limit.algorithm().takesHolds()) {
                    NaiveReservations.tidy(kept(charge, limit), limit, now);
                }
            }
        }
    }

    /** What something answers that is undone. */
    <T> T without(List<Charge> charges, Supplier<T> work) {
        Map<Name, Kept> before = new HashMap<>();
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                before.put(name(charge, limit), copy(kept(charge, limit)));
            }
        }
        T answer = work.get();
        states.putAll(before);
        return answer;
    }

    static void take(Kept kept, Charge charge, Limit limit, long stamp, long now) {
        long n = charge.permits();
        switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                boolean open = kept.end > now && kept.count > 0;
                kept.end = open ? kept.end : NaiveCalendar.latestEnd(limit, now);
                kept.count = (open ? kept.count : 0) + n;
            }
            case SLIDING_LIST, SLIDING_ZSET -> {
                boolean repeated = charge.requestId() != null
                        && kept.log.stream()
                                .anyMatch(entry -> entry.stamp > now - limit.periodMicros()
                                        && charge.requestId().equals(entry.id));
                if (repeated) {
                    return;
                }
                List<Entry> log = NaiveLog.live(kept.log, limit, now);
                for (long i = 0; i < n; i++) {
                    log.add(new Entry(now, charge.requestId()));
                }
                kept.log = log;
            }
            case DISTINCT -> {
                if (kept.end <= now || kept.log.isEmpty()) {
                    kept.log = new ArrayList<>();
                    kept.end = now + limit.periodMicros();
                }
                // One that is used again is no longer that of the first call, whose refund finds none.
                boolean known = kept.log.removeIf(entry -> isOf(charge, entry));
                kept.log.add(new Entry(known ? -1 : now, member(charge)));
            }
            case TOKEN_BUCKET -> kept.bucket.take(limit, n, now);
            case BLOCK -> {
                // What is allowed changes nothing.
            }
            case ALLOTMENT -> kept.stock.take(charge, limit, stamp, now);
            case CONCURRENT -> kept.count += n;
        }
    }

    Kept kept(Charge charge, Limit limit) {
        return states.computeIfAbsent(name(charge, limit), n -> new Kept());
    }

    static Kept copy(Kept kept) {
        Kept copy = new Kept();
        copy.count = kept.count;
        copy.end = kept.end;
        copy.log = new ArrayList<>(kept.log);
        copy.bucket = kept.bucket.copy();
        copy.block = kept.block.copy();
        copy.stock = kept.stock.copy();
        copy.holds = kept.holds.copy();
        return copy;
    }

    private static Name name(Charge charge, Limit limit) {
        return new Name(
                charge.policy().name(),
                limit.identity(),
                limit.algorithm(),
                charge.key().canonical());
    }
}
