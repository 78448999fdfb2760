package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.internal.HoldTerms;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What makes a call a reservation or a settlement. Immutable.
 *
 * @param id of the reservation
 * @param ttlMicros after which time it ends by itself
 * @param keepMicros how long its record is kept after its end
 * @param actual what a settlement charges; below 0 for a reservation
 */
record Held(String id, long ttlMicros, long keepMicros, long actual) {
    static Held of(HoldTerms terms) {
        return new Held(terms.id(), terms.ttlMicros(), terms.keepMicros(), -1);
    }

    /** The parts of a call, of which those that hold are this reservation. */
    List<Call.Part> reserving(List<Call.Part> parts) {
        return parts.stream()
                .map(part -> part.keepsHolds() ? part.with(this) : part)
                .toList();
    }

    /** The parts of a call that gives back, of which those that hold settle this reservation instead. */
    List<Call.Part> settling(List<Call.Part> ends, ToLongFunction<? super Charge> cost) {
        return ends.stream()
                .map(part -> part.keepsHolds()
                        ? part.with(new Held(id, ttlMicros, keepMicros, cost.applyAsLong(part.charge())))
                        : part)
                .toList();
    }

    boolean isSettlement() {
        return actual >= 0;
    }

    /** The mode of a part among others of the same form: settlements differ in the window. */
    static String modeOfForm(Call.Part part) {
        Held hold = part.hold();
        return hold != null && hold.isSettlement() ? Call.BACK : part.mode();
    }

    /** Whether they differ only in what distinguishes calls of one form. */
    static boolean haveOneForm(Call.Part one, Call.Part two) {
        Held hold = one.hold();
        Held other = two.hold();
        boolean haveOneTime = hold == null || other == null
                ? hold == other
                : hold.ttlMicros == other.ttlMicros && hold.keepMicros == other.keepMicros;
        return haveOneTime && modeOfForm(one).equals(modeOfForm(two));
    }

    /** Whether an id, and of a settlement more, distinguishes a call from others of the same form. */
    static boolean isNamed(Call.Part part) {
        Held hold = part.hold();
        return part.isInFlight()
                || hold != null && (hold.isSettlement() || part.mode().equals(Call.TAKE));
    }
}
