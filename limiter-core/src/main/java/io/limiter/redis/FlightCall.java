package io.limiter.redis;

import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.Access;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The permits that one call holds of one state in Redis, under an id of its own. Until the call ends they are renewed, and held again,
 * without asking, where Redis says that they are missing. The end is sent until it is answered, and once more after each answer to what
 * may have run behind it. All of this may be repeated, so nothing has to be known of what is on its way. Thread-safe, under its own lock.
 */
final class FlightCall implements LimitOutcome.Holder {
    private static final long NOT_DUE = Long.MAX_VALUE;
    private static final long LONGEST_BETWEEN_MICROS = 10_000_000;

    private final CallsInFlight all;
    private final Call.Part asked;
    final String id;

    /** When something has to be sent. */
    private volatile long dueMicros = NOT_DUE;

    /** Redis does not hold them. */
    private boolean isMissing;

    /** Nothing that would hold them was ever sent. */
    private boolean isUnknown;

    private boolean isEnded;
    /** When what Redis may hold after the end has run out. */
    private long overMicros;

    /** @param asked the part of the call that takes the permits */
    FlightCall(CallsInFlight all, Call.Part asked, String id) {
        this.all = all;
        this.asked = asked;
        this.id = id;
    }

    /** Begins with permits of which Redis knows nothing. */
    synchronized void adopt() {
        isMissing = true;
        isUnknown = true;
        keep(all.nowMicros());
    }

    private void keep(long atMicros) {
        dueMicros = atMicros;
        all.add(this);
    }

    @Override
    public boolean end(LimitOutcome ended) {
        boolean first;
        synchronized (this) {
            first = ended.claimEnd(Access.LIBRARY);
        }
        if (first) {
            endNow();
        }
        return first;
    }

    /** Ends it, if Redis may hold it. */
    void endNow() {
        Call.Part end;
        synchronized (this) {
            end = end();
            if (isUnknown) {
                all.remove(this);
                return;
            }
        }
        all.send(end);
    }

    /** The part of a call that ends it. */
    synchronized Call.Part end() {
        isEnded = true;
        overMicros = all.nowMicros() + holdMicros();
        return part(Call.END);
    }

    synchronized void endSoon() {
        end();
        keep(all.nowMicros());
    }

    private Call.Part part(String mode) {
        dueMicros = NOT_DUE;
        return new Call.Part(asked.key(), asked.charge(), asked.limit(), mode, false, 0, null, this);
    }

    private long holdMicros() {
        return asked.limit().spec().periodMicros();
    }

    private long renewsAt(long nowMicros) {
        return nowMicros + betweenMicros(asked.limit());
    }

    /** The time between two renewals. */
    static long betweenMicros(Limit limit) {
        return Math.min(limit.spec().periodMicros() / 3, LONGEST_BETWEEN_MICROS);
    }

    /** What has to be sent now; null for nothing. */
    Call.@Nullable Part due(long nowMicros) {
        // Without the lock, because each of them is looked at often: what is sent twice does no harm.
        return dueMicros <= nowMicros ? dueNow(nowMicros) : null;
    }

    private synchronized Call.@Nullable Part dueNow(long nowMicros) {
        if (isEnded && nowMicros > overMicros) {
            all.remove(this);
            return null;
        }
        isUnknown = false;
        return part(isEnded ? Call.END : isMissing ? Call.AGAIN : Call.RENEW);
    }

    /**
     * Takes note of the answer to a call.
     *
     * @param reply null for none
     * @param sent whether it may have run
     */
    static void answered(List<Call.Part> parts, @Nullable List<?> reply, boolean sent) {
        for (int i = 0; i < parts.size(); i++) {
            FlightCall call = parts.get(i).flight();
            if (call != null) {
                List<?> numbers = reply != null && reply.size() == Call.NUMBERS * parts.size() ? reply : null;
                call.answered(parts.get(i).mode(), numbers, i * Call.NUMBERS, isAllowed(parts, numbers), sent);
            }
        }
    }

    /** The answer to a call came after its caller stopped waiting. */
    static void answeredLate(List<Call.Part> parts, @Nullable List<?> reply) {
        for (Call.Part part : parts) {
            boolean mayHold = part.isTake() && (reply == null || isAllowed(parts, reply));
            if (part.flight() != null && (mayHold || part.mode().equals(Call.AGAIN))) {
                part.flight().heldLate();
            }
        }
    }

    private static boolean isAllowed(List<Call.Part> parts, @Nullable List<?> reply) {
        for (int i = 0; reply != null && i < parts.size(); i++) {
            if (Reply.number(reply, i * Call.NUMBERS) != 1) {
                return false;
            }
        }
        return reply != null;
    }

    /** Redis may hold it since a moment ago, when it may have ended already. */
    private synchronized void heldLate() {
        if (isEnded) {
            endSoon();
        }
    }

    private synchronized void answered(String mode, @Nullable List<?> reply, int at, boolean isAllowed, boolean sent) {
        long now = all.nowMicros();
        long later = now + CallsInFlight.AGAIN_MICROS;
        switch (mode) {
            case Call.TAKE -> {
                if (reply == null && sent) {
                    endSoon();
                } else if (isAllowed) {
                    keep(renewsAt(now));
                }
                return;
            }
            case Call.RENEW -> {
                isMissing = reply != null && !isAllowed;
                if (!isEnded) {
                    dueMicros = reply == null ? later : isMissing ? now : renewsAt(now);
                }
            }
            case Call.AGAIN -> {
                isMissing &= reply == null;
                dueMicros = reply == null ? later : renewsAt(now);
                heldLate();
                if (reply != null) {
                    all.heldAgain(asked, -Reply.number(reply, at + 1));
                }
            }
            default -> {
                if (reply == null) {
                    keep(Math.min(dueMicros, later));
                } else if (dueMicros == NOT_DUE) {
                    all.remove(this);
                }
            }
        }
        all.answered(reply != null);
    }
}
