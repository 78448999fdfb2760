package io.limiter.kit;

import io.limiter.Algorithm;
import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the limits mean, written from the rules alone: slow, single-threaded, unbounded numbers, nothing clever. An
 * independent opinion beside the two twins.
 */
public final class NaiveLimiter {
    private record Name(String policy, String limit, Algorithm algorithm, String key) {}

    private record Entry(long stamp, @Nullable String id) {}

    private static final class Kept {
        long count;
        long end;
        List<Entry> log = new ArrayList<>();
        /** Credit in parts of a permit, from when on it grows, how fast, and when it is full. */
        BigInteger credit = BigInteger.ZERO;

        long from;
        BigInteger parts = BigInteger.ONE;
        BigInteger rate = BigInteger.ONE;
        long fullAt;
    }

    private final Map<Name, Kept> states = new HashMap<>();

    /** Decides as a backend does. */
    public List<LimitOutcome> decide(List<Charge> charges, Mode mode, long now) {
        boolean allowed = true;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                allowed &= look(charge, limit, now).allowed();
            }
        }
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                LimitOutcome before = look(charge, limit, now);
                if (!allowed || charge.permits() == 0) {
                    outcomes.add(before);
                    if (mode == Mode.TAKE && before.retryAfterMicros() > 0) {
                        settle(kept(charge, limit), limit, now);
                    }
                    continue;
                }
                Kept kept = kept(charge, limit);
                Kept copy = copy(kept);
                take(kept, charge, limit, now);
                LimitOutcome after = look(new Charge(charge.policy(), charge.key(), 0), limit, now);
                outcomes.add(new LimitOutcome(
                        charge,
                        limit,
                        true,
                        after.remaining(),
                        0,
                        after.nextMicros(),
                        after.resetMicros(),
                        limit.algorithm() == Algorithm.FIXED_WINDOW ? after.stampMicros() : before.stampMicros()));
                if (mode == Mode.LOOK) {
                    states.put(name(charge, limit), copy);
                }
            }
        }
        return outcomes;
    }

    /** Gives back what an outcome took. */
    public boolean refund(LimitOutcome outcome, long now) {
        Charge charge = outcome.charge();
        Limit limit = outcome.limit();
        Kept kept = kept(charge, limit);
        long n = charge.permits();
        switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                if (kept.count == 0 || kept.end <= now || kept.end != outcome.stampMicros()) {
                    return false;
                }
                kept.count = Math.max(0, kept.count - n);
                kept.end = Math.min(kept.end, now + limit.periodMicros());
                return true;
            }
            case SLIDING_LIST, SLIDING_ZSET -> {
                List<Entry> left = new ArrayList<>();
                for (Entry entry : kept.log) {
                    boolean own = entry.stamp == outcome.stampMicros()
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
            case TOKEN_BUCKET -> {
                BigInteger full = full(limit);
                BigInteger credit = credit(kept, limit, now);
                BigInteger refilled = refill(limit, Math.max(0, now - outcome.stampMicros()));
                BigInteger gain = permits(limit, n).subtract(refilled);
                boolean sameLimit = kept.parts.equals(parts(limit)) && kept.rate.equals(rate(limit));
                if (n > limit.burst() || !sameLimit || gain.signum() <= 0 || credit.equals(full)) {
                    return false;
                }
                kept.from = from(kept, limit, now);
                kept.credit = credit.add(gain).min(full);
                return true;
            }
        }
        throw new AssertionError(limit);
    }

    /** Forgets what a charge's key used. */
    public void reset(Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            states.remove(name(charge, limit));
        }
    }

    private LimitOutcome look(Charge charge, Limit limit, long now) {
        long n = charge.permits();
        if (limit.permits() == 0) {
            return new LimitOutcome(charge, limit, n == 0, 0, n == 0 ? 0 : -1, 0, 0, now);
        }
        Kept kept = kept(charge, limit);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                long count = kept.end > now ? kept.count : 0;
                long end = count > 0 ? Math.min(kept.end, now + limit.periodMicros()) : 0;
                boolean allowed = n == 0 || count + n <= limit.permits();
                long left = count > 0 ? end - now : 0;
                long retry = allowed ? 0 : n > limit.permits() ? -1 : left;
                yield new LimitOutcome(
                        charge, limit, allowed, Math.max(0, limit.permits() - count), retry, left, left, end);
            }
            case SLIDING_LIST, SLIDING_ZSET -> lookAtLog(charge, limit, now, kept);
            case TOKEN_BUCKET -> {
                BigInteger credit = credit(kept, limit, now);
                BigInteger wanted = permits(limit, n);
                boolean allowed = n == 0 || n <= limit.burst() && credit.compareTo(wanted) >= 0;
                long retry = allowed ? 0 : n > limit.burst() ? -1 : time(kept, limit, wanted.subtract(credit), now);
                BigInteger missing = full(limit).subtract(credit);
                BigInteger permit = permits(limit, 1);
                long next = missing.signum() == 0 ? 0 : time(kept, limit, permit.subtract(credit.mod(permit)), now);
                yield new LimitOutcome(
                        charge,
                        limit,
                        allowed,
                        credit.divide(permit).longValueExact(),
                        retry,
                        next,
                        time(kept, limit, missing, now),
                        from(kept, limit, now));
            }
        };
    }

    private static LimitOutcome lookAtLog(Charge charge, Limit limit, long now, Kept kept) {
        long n = charge.permits();
        long period = limit.periodMicros();
        List<Long> live = new ArrayList<>();
        long stamp = now;
        boolean repeated = false;
        for (Entry entry : kept.log) {
            if (entry.stamp > now - period) {
                live.add(Math.min(entry.stamp, now));
                if (charge.requestId() != null
                        && charge.requestId().equals(entry.id)
                        && n > 0
                        && n <= limit.permits()) {
                    repeated = true;
                    stamp = entry.stamp;
                }
            }
        }
        int len = live.size();
        boolean allowed = n == 0 || repeated || len + n <= limit.permits();
        long retry =
                allowed ? 0 : n > limit.permits() ? -1 : live.get((int) (len + n - limit.permits() - 1)) + period - now;
        long next = len == 0 ? 0 : live.get((int) Math.max(0, len - limit.permits())) + period - now;
        long reset = len == 0 ? 0 : live.get(len - 1) + period - now;
        return new LimitOutcome(charge, limit, allowed, Math.max(0, limit.permits() - len), retry, next, reset, stamp);
    }

    /** A denial while the clock is back from where it was: what stands becomes as late as it can be. */
    private static void settle(Kept kept, Limit limit, long now) {
        if (limit.permits() == 0) {
            return;
        }
        long latest = now + limit.periodMicros();
        switch (limit.algorithm()) {
            case FIXED_WINDOW -> kept.end = Math.min(kept.end, latest);
            case SLIDING_LIST, SLIDING_ZSET -> {
                if (kept.log.stream().anyMatch(entry -> entry.stamp > now)) {
                    List<Entry> log = new ArrayList<>();
                    for (Entry entry : kept.log) {
                        if (entry.stamp > now - limit.periodMicros()) {
                            log.add(new Entry(Math.min(entry.stamp, now), entry.id));
                        }
                    }
                    kept.log = log;
                }
            }
            case TOKEN_BUCKET -> {
                if (kept.fullAt > now && kept.from > latest) {
                    put(kept, limit, credit(kept, limit, now), now);
                }
            }
        }
    }

    private static void take(Kept kept, Charge charge, Limit limit, long now) {
        long n = charge.permits();
        switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                boolean stands = kept.count > 0 && kept.end > now;
                kept.end = stands ? Math.min(kept.end, now + limit.periodMicros()) : now + limit.periodMicros();
                kept.count = (stands ? kept.count : 0) + n;
            }
            case SLIDING_LIST, SLIDING_ZSET -> {
                boolean repeated = charge.requestId() != null
                        && kept.log.stream()
                                .anyMatch(entry -> entry.stamp > now - limit.periodMicros()
                                        && charge.requestId().equals(entry.id));
                if (repeated) {
                    return;
                }
                List<Entry> log = new ArrayList<>();
                for (Entry entry : kept.log) {
                    if (entry.stamp > now - limit.periodMicros()) {
                        log.add(new Entry(Math.min(entry.stamp, now), entry.id));
                    }
                }
                for (long i = 0; i < n; i++) {
                    log.add(new Entry(now, charge.requestId()));
                }
                kept.log = log;
            }
            case TOKEN_BUCKET -> {
                put(kept, limit, credit(kept, limit, now).subtract(permits(limit, n)), now);
            }
        }
    }

    private static void put(Kept kept, Limit limit, BigInteger credit, long now) {
        kept.from = from(kept, limit, now);
        kept.credit = credit;
        kept.parts = parts(limit);
        kept.rate = rate(limit);
        kept.fullAt = now + time(kept, limit, full(limit).subtract(credit), now);
    }

    /** From when on a bucket refills: now, or where the clock was before it stepped back, a period on at most. */
    private static long from(Kept kept, Limit limit, long now) {
        return kept.fullAt > now ? Math.max(now, Math.min(kept.from, now + limit.periodMicros())) : now;
    }

    private static BigInteger credit(Kept kept, Limit limit, long now) {
        if (kept.fullAt <= now) {
            return full(limit);
        }
        long elapsed = Math.max(0, now - kept.from);
        boolean sameLimit = kept.parts.equals(parts(limit)) && kept.rate.equals(rate(limit));
        if (sameLimit) {
            return kept.credit.add(refill(limit, elapsed)).min(full(limit));
        }
        // The limit has changed: what the old one brought, in whole permits, and never more than the new one would
        // have.
        BigInteger old =
                kept.credit.add(BigInteger.valueOf(elapsed).multiply(kept.rate)).divide(kept.parts);
        BigInteger whole = kept.credit.divide(kept.parts).min(BigInteger.valueOf(limit.burst()));
        BigInteger fresh = whole.multiply(parts(limit)).add(refill(limit, elapsed));
        return old.multiply(parts(limit)).min(fresh).min(full(limit));
    }

    private static BigInteger full(Limit limit) {
        return permits(limit, limit.burst());
    }

    /** Of how many parts a permit consists: the period over its common divisor with the permits. */
    private static BigInteger parts(Limit limit) {
        BigInteger period = BigInteger.valueOf(limit.periodMicros());
        return period.divide(period.gcd(BigInteger.valueOf(limit.permits())));
    }

    /** How many parts a microsecond brings. */
    private static BigInteger rate(Limit limit) {
        return parts(limit)
                .multiply(BigInteger.valueOf(limit.permits()))
                .divide(BigInteger.valueOf(limit.periodMicros()));
    }

    private static BigInteger permits(Limit limit, long n) {
        return BigInteger.valueOf(n).multiply(parts(limit));
    }

    private static BigInteger refill(Limit limit, long micros) {
        return BigInteger.valueOf(micros).multiply(rate(limit));
    }

    private static long time(Kept kept, Limit limit, BigInteger credit, long now) {
        if (credit.signum() <= 0) {
            return 0;
        }
        BigInteger[] quotient = credit.divideAndRemainder(rate(limit));
        return from(kept, limit, now) - now + quotient[0].longValueExact() + (quotient[1].signum() == 0 ? 0 : 1);
    }

    private Kept kept(Charge charge, Limit limit) {
        return states.computeIfAbsent(name(charge, limit), n -> new Kept());
    }

    private static Kept copy(Kept kept) {
        Kept copy = new Kept();
        copy.count = kept.count;
        copy.end = kept.end;
        copy.log = new ArrayList<>(kept.log);
        copy.credit = kept.credit;
        copy.parts = kept.parts;
        copy.rate = kept.rate;
        copy.from = kept.from;
        copy.fullAt = kept.fullAt;
        return copy;
    }

    private static Name name(Charge charge, Limit limit) {
        return new Name(
                charge.policy().name(),
                String.valueOf(limit.name()),
                limit.algorithm(),
                charge.key().canonical());
    }
}
