package io.limiter.inprocess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** Decides what is asked in one call: all of it is looked at, then all is taken, or nothing. Thread-safe. */
final class Decider {
    private static final Comparator<Ask> HOLD_ORDER = Comparator.comparingLong(ask -> state(ask).order);

    private final StateTable table;

    Decider(StateTable table) {
        this.table = table;
    }

    /** Decides, and fills in the answers. */
    void decide(List<Ask> asks) {
        if (asks.size() == 1) {
            decideAlone(asks.get(0));
        } else {
            decideTogether(asks);
        }
    }

    private void decideAlone(Ask ask) {
        if (ask.denyAll()) {
            ask.answerDenyAll();
            return;
        }
        // A key of which nothing is taken keeps nothing.
        boolean create = ask.takes() && !ask.neverFits();
        try {
            while (true) {
                State state = table.find(ask, create);
                if (!state.decideAlone(ask)) {
                    continue;
                }
                if (!ask.noRoom || ask.reclaimed) {
                    return;
                }
                ask.reclaimed = true;
                table.reclaim(ask.now);
            }
        } finally {
            ask.leave();
        }
    }

    private void decideTogether(List<Ask> asks) {
        List<Ask> stateful = new ArrayList<>(asks.size());
        boolean allowed = true;
        for (Ask ask : asks) {
            if (ask.denyAll()) {
                ask.answerDenyAll();
                allowed &= ask.allowed;
            } else {
                ask.together = true;
                stateful.add(ask);
            }
        }
        try {
            decideHeld(stateful, allowed);
            if (stateful.stream().anyMatch(ask -> ask.noRoom)) {
                // Denied, so nothing was taken: drop what is full, and ask once more.
                table.reclaim(stateful.get(0).now);
                decideHeld(stateful, allowed);
            }
        } finally {
            for (Ask ask : stateful) {
                ask.leave();
                if (ask.created) {
                    table.keepIfUsed(state(ask), ask.charged, ask.now);
                }
            }
        }
    }

    /** States are made only once it is known that all limits allow the call: one that is denied leaves nothing. */
    private void decideHeld(List<Ask> asks, boolean othersAllow) {
        if (!decideHeld(asks, othersAllow, false)) {
            decideHeld(asks, othersAllow, true);
        }
    }

    /** Decides, with states made for keys that have none, or without; false when it would take from such a key. */
    private boolean decideHeld(List<Ask> asks, boolean othersAllow, boolean create) {
        while (!holdAll(asks, create)) {
            // A state was dropped between its finding and its holding: find again.
            Thread.onSpinWait();
        }
        try {
            boolean allowed = othersAllow;
            boolean missing = false;
            for (Ask ask : asks) {
                state(ask).look(ask);
                allowed &= ask.allowed;
                missing |= ask.missing && ask.takes();
            }
            if (allowed && missing && !create) {
                return false;
            }
            for (Ask ask : asks) {
                if (allowed && ask.charge.permits() > 0) {
                    if (ask.earlier > 0) {
                        // The state has changed by an earlier ask since this one looked.
                        ask.earlier = 0;
                        state(ask).look(ask);
                    }
                    state(ask).charge(ask);
                    ask.charged = true;
                } else if (ask.takes()) {
                    state(ask).settle(ask);
                }
            }
            for (Ask ask : asks) {
                state(ask).describe(ask);
            }
            return true;
        } finally {
            releaseAll(asks, asks.size());
        }
    }

    /** Finds and holds the state of each ask, each state once and all in one order; false when one was dropped. */
    private boolean holdAll(List<Ask> asks, boolean create) {
        for (Ask ask : asks) {
            ask.state = table.find(ask, create && ask.takes());
            ask.earlier = 0;
        }
        asks.sort(HOLD_ORDER);
        for (int i = 0; i < asks.size(); i++) {
            Ask ask = asks.get(i);
            if (i > 0 && asks.get(i - 1).state == ask.state) {
                ask.earlier = asks.get(i - 1).permits();
            } else if (!state(ask).hold()) {
                releaseAll(asks, i);
                return false;
            }
        }
        return true;
    }

    private static void releaseAll(List<Ask> asks, int count) {
        for (int i = 0; i < count; i++) {
            if (i == 0 || asks.get(i - 1).state != asks.get(i).state) {
                state(asks.get(i)).release();
            }
        }
    }

    private static State state(Ask ask) {
        return Objects.requireNonNull(ask.state, "an ask that reaches a state has one");
    }
}
