package io.limiter.example.vote;

import java.util.concurrent.atomic.LongAdder;

/** The votes of this server. Thread-safe. */
final class Tally {
    static final Tally VOTES = new Tally();

    private final LongAdder tea = new LongAdder();
    private final LongAdder coffee = new LongAdder();

    private Tally() {}

    /** Counts a vote; false if there is no such choice. */
    boolean vote(String choice) {
        switch (choice) {
            case "tea" -> tea.increment();
            case "coffee" -> coffee.increment();
            default -> {
                return false;
            }
        }
        return true;
    }

    long tea() {
        return tea.sum();
    }

    long coffee() {
        return coffee.sum();
    }

    String toJson() {
        return "{\"tea\":" + tea() + ",\"coffee\":" + coffee() + "}";
    }
}
