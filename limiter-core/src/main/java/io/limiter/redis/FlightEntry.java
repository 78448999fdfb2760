package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.LimitOutcome;
import io.limiter.internal.Access;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What this instance holds of one state in Redis, under a number of its own there. Each call about it tells what this instance
 * knows; so what Redis has lost is held again, and a renewal that no other call overtakes corrects what it does not know.
 * Thread-safe, under its own lock.
 */
final class FlightEntry implements LimitOutcome.Holder {
    private final CallsInFlight all;
    final String key;
    final long number;

    /** For renewals: of one permit, under the limit of the last call. */
    private Call.Part asked;

    /** The permits of admitted calls that have not ended. */
    private long held;
    /** The permits of calls that have ended, but whose end is not sent: Redis still holds them for the calls before it. */
    private long ending;
    /** Their ends. */
    private final List<Call.Part> unsent = new ArrayList<>(0);
    /** Calls without an answer. */
    private int onWay;
    /** How many calls have begun. */
    private long begun;
    /** The latest number of changes that Redis has told. */
    private long changes;
    /** Redis may hold other permits than these, because an answer was lost. */
    private boolean unsure;
    /** It takes no more permits: another entry of the state does. */
    private boolean retired;

    /** Redis has not answered that it knows it. */
    volatile boolean isUnknown;

    private boolean dropped;
    private boolean renewing;
    private long renewMicros;
    /** What was so when the last renewal was sent. */
    private long begunAtRenewal;

    private boolean setsAtRenewal;

    FlightEntry(CallsInFlight all, Call.Part asked, long number) {
        this.all = all;
        this.key = asked.key();
        this.number = number;
        this.asked = asked;
    }

    /** One for permits of which Redis knows nothing. */
    static FlightEntry unknown(CallsInFlight all, Call.Part asked, long number) {
        FlightEntry entry = new FlightEntry(all, asked, number);
        entry.isUnknown = true;
        entry.unsure = true;
        entry.retired = true;
        return entry;
    }

    /** Holds permits besides; false if Redis may know of it already. */
    synchronized boolean tryAdopt(long permits) {
        boolean adopts = isUnknown && !dropped && !renewing;
        held += adopts ? permits : 0;
        return adopts;
    }

    /** Whether it takes permits: again, once it is known what Redis holds. */
    synchronized boolean takes() {
        retired &= unsure;
        return !retired && !dropped;
    }

    /** A call asks for permits; false if this takes no more. */
    synchronized boolean tryBegin(Call.Part part) {
        if (!takes()) {
            return false;
        }
        if (onWay == 0 && held == 0) {
            renewMicros = all.nowMicros() + thirdOfHold(part);
        }
        asked = part;
        onWay++;
        begun++;
        return true;
    }

    private static long thirdOfHold(Call.Part part) {
        return part.limit().spec().periodMicros() / 3;
    }

    @Override
    public boolean end(LimitOutcome ended) {
        boolean first;
        synchronized (this) {
            first = ended.claimEnd(Access.LIBRARY);
        }
        if (first) {
            all.send(back(ended));
        }
        return first;
    }

    /** The part of a call that ends what an outcome holds, which is no longer held here. */
    synchronized Call.Part back(LimitOutcome ended) {
        held -= ended.permits();
        ending += ended.permits();
        onWay++;
        begun++;
        Call.Part back = new Call.Part(key, ended.charge(), ended.limit(), Call.BACK + 0, false, 0, null, this);
        unsent.add(back);
        return back;
    }

    /** Adds what this instance knows, when a call is sent. */
    synchronized void addTo(List<Object> arguments, Call.Part part) {
        sent(part);
        long all = held + ending;
        arguments.add(Long.toHexString(Math.max(1, changes)) + (all == 0 ? "" : "," + all));
        if (part.mode().equals(Call.RENEW)) {
            setsAtRenewal = onWay == 0;
            begunAtRenewal = begun;
            arguments.add(setsAtRenewal ? "1" : "0");
        }
    }

    /** Where its key has moved a call is sent again. */
    private void sent(Call.Part part) {
        boolean isFirst = unsent.removeIf(end -> end == part);
        ending -= isFirst ? part.charge().permits() : 0;
    }

    /** The part of a renewal, if it is due; null else. */
    synchronized Call.@Nullable Part tryRenew(long nowMicros) {
        if (renewing || dropped || nowMicros < renewMicros && !unsure || held == 0 && !unsure) {
            return null;
        }
        renewing = true;
        Charge one = new Charge(asked.charge().policy(), asked.charge().key(), 1);
        return new Call.Part(key, one, asked.limit(), Call.RENEW, false, 0, null, this);
    }

    /**
     * Takes note of the answer to a call.
     *
     * @param reply null for none
     * @param sent whether it may have run
     */
    static void answered(List<Call.Part> parts, @Nullable List<?> reply, boolean sent) {
        for (int i = 0; i < parts.size(); i++) {
            FlightEntry entry = parts.get(i).flight();
            if (entry != null) {
                boolean isGranted = reply != null && isGranted(parts, reply);
                entry.answered(parts.get(i), reply, i * Call.NUMBERS, isGranted, sent);
            }
        }
    }

    /** The answer came too late for its caller, but not for who gives back what it granted. */
    static void grantedLate(List<Call.Part> parts, List<?> reply) {
        for (Call.Part part : parts) {
            FlightEntry entry = part.flight();
            if (entry != null && part.isTake() && isGranted(parts, reply)) {
                entry.grantedLate(part.charge().permits());
            }
        }
    }

    private synchronized void grantedLate(long permits) {
        held += permits;
    }

    private static boolean isGranted(List<Call.Part> parts, List<?> reply) {
        for (int i = 0; i < parts.size(); i++) {
            if (Reply.number(reply, i * Call.NUMBERS) != 1) {
                return false;
            }
        }
        return true;
    }

    private synchronized void answered(Call.Part part, @Nullable List<?> reply, int at, boolean granted, boolean sent) {
        boolean renews = part.mode().equals(Call.RENEW);
        boolean takes = part.isTake();
        if (!renews && !takes && !part.mode().startsWith(Call.BACK)) {
            // It changes nothing.
            return;
        }
        onWay -= renews ? 0 : 1;
        if (reply != null) {
            held += takes && granted ? part.charge().permits() : 0;
            changes = Math.max(changes, Reply.number(reply, at + 5));
            all.heldAgain(part, Reply.number(reply, at + 4), -Reply.number(reply, at + 1));
        } else if (!renews && (sent || !takes)) {
            // Who is not answered must not keep others from being sure: they go on in another entry.
            unsure = true;
            retired = true;
        }
        if (reply == null && !sent) {
            sent(part);
        }
        if (renews) {
            renewed(part, reply != null, reply != null && Reply.number(reply, at) == 1);
        }
        if (held == 0 && onWay == 0 && !renewing && (!unsure || all.isFull())) {
            dropped = true;
            all.remove(this);
        }
    }

    private void renewed(Call.Part part, boolean answered, boolean matched) {
        renewing = false;
        isUnknown &= !answered;
        if (answered && setsAtRenewal && begun == begunAtRenewal) {
            // Else Redis holds others; it has told its number of changes, so the next one sets them.
            unsure = !matched;
        }
        renewMicros = all.nowMicros() + (answered ? thirdOfHold(part) : Renewals.AGAIN_MICROS);
    }
}
