package io.limiter.internal.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Collects the mistakes in text, to report all of them together. */
public final class Problems {
    private final List<Problem> found = new ArrayList<>();
    private final Set<String> reportedKeys = new HashSet<>();

    void add(ConfigEntry at, String text) {
        if (!reportedKeys.contains(at.key())) {
            found.add(new Problem(at, text));
        }
    }

    /** A problem at a place. */
    void add(String source, int line, String text) {
        add(new ConfigEntry(source, line, "", ""), text);
    }

    /** A problem of a key; its further problems are not reported, because they may have the same cause. */
    public void addFirst(String source, int line, String key, String text) {
        reportedKeys.add(key);
        add(source, line, text);
    }

    /** How many there are. */
    int size() {
        return found.size();
    }

    /** Throws an {@link IllegalArgumentException} if a value is wrong. */
    static void refuseIf(boolean wrong, String text) {
        if (wrong) {
            throw new IllegalArgumentException(text);
        }
    }

    void throwIfAny() {
        if (found.isEmpty()) {
            return;
        }
        found.sort(Comparator.<Problem, String>comparing(p -> p.at().source()).thenComparing(p -> p.at().line()));
        String source = found.get(0).at().source();
        boolean oneSource =
                found.stream().allMatch(problem -> problem.at().source().equals(source));
        List<String> lines = found.stream()
                .map(problem -> problem.place(oneSource) + problem.message())
                .toList();
        throw new InvalidSettingsException(
                (oneSource && !source.isEmpty() ? source : "the configuration") + " has " + lines.size()
                        + (lines.size() == 1 ? " problem:\n  " : " problems:\n  ") + String.join("\n  ", lines),
                lines);
    }
}
