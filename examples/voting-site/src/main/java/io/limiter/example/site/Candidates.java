package io.limiter.example.site;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The candidates, and the votes that this instance has counted. Thread-safe. */
@Component
class Candidates {
    /** A candidate and its votes. */
    record Standing(String id, String name, long votes) {}

    private static final Map<String, String> NAMES = new LinkedHashMap<>();

    static {
        NAMES.put("tea", "Tea");
        NAMES.put("coffee", "Coffee");
        NAMES.put("cocoa", "Cocoa");
    }

    private final Map<String, LongAdder> votes = new LinkedHashMap<>();

    Candidates() {
        NAMES.keySet().forEach(id -> votes.put(id, new LongAdder()));
    }

    /**
     * Counts a vote.
     *
     * @throws WrongInputException if there is no such candidate
     */
    void vote(@Nullable String id) {
        LongAdder counter = id == null ? null : votes.get(id);
        if (counter == null) {
            throw new WrongInputException(
                    "candidate", "candidate is " + Shown.of(id) + "; vote for one of " + NAMES.keySet());
        }
        counter.increment();
    }

    List<Standing> standings() {
        List<Standing> standings = new ArrayList<>();
        votes.forEach((id, counter) -> standings.add(new Standing(id, NAMES.getOrDefault(id, id), counter.sum())));
        return standings;
    }
}
