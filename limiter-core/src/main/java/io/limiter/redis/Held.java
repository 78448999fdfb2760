package io.limiter.redis;

import io.limiter.internal.HoldTerms;

/**
 * What makes a call a reservation or a settlement. Immutable.
 *
 * @param id of the reservation
 * @param terms what the script needs of all reservations of that kind
 * @param actual what a settlement charges; below 0 for a reservation
 */
record Held(String id, String terms, long actual) {
    /** As {@link Call#TAKE}, with an id after the form. Batch script only. */
    static final String RESERVE = "reserve";
    /** As {@link Call#BACK}, with what distinguishes settlements after the form. Batch script only. */
    static final String SETTLE = "settle";

    private static final String NONE = "none";

    static Held of(HoldTerms terms) {
        return new Held(terms.id(), ",ttl=" + terms.ttlMicros() + ",keep=" + terms.keepMicros(), -1);
    }

    /** The settlement of it. */
    Held settling(long cost) {
        return new Held(id, terms, cost);
    }

    boolean isSettlement() {
        return actual >= 0;
    }

    /** What a call's own values need of its form. */
    static String terms(Call.Part part) {
        return part.hold() != null ? part.hold().terms() : NONE;
    }

    /** The mode of a part among others of the same form. */
    static String modeOfForm(Call.Part part) {
        Held hold = part.hold();
        if (hold == null) {
            return part.mode();
        }
        boolean isTake = part.mode().equals(Call.TAKE);
        return hold.isSettlement() ? SETTLE : isTake ? RESERVE : part.mode();
    }

    /** Whether an id, and of a settlement more, distinguishes a call from others of the same form. */
    static boolean isNamed(Call.Part part) {
        return part.isInFlight() || settles(part) || modeOfForm(part).equals(RESERVE);
    }

    static boolean settles(Call.Part part) {
        return modeOfForm(part).equals(SETTLE);
    }
}
