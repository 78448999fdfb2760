package io.limiter.redis;

import io.limiter.internal.HoldTerms;

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

    /** The settlement of it. */
    Held settling(long cost) {
        return new Held(id, ttlMicros, keepMicros, cost);
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
