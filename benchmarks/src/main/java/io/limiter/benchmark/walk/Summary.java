package io.limiter.benchmark.walk;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The figures of one walk. A nested class, a lambda and an accessor count for the top-level class that they are written in. */
record Summary(String walk, int classes, int handOvers, int calls) {
    /** Of the methods that were entered, in their order. */
    static Summary of(String name, List<String> entered) {
        Set<String> classes = new HashSet<>();
        int handOvers = 0;
        String last = "";
        for (String method : entered) {
            String type = topLevel(method);
            classes.add(type);
            if (!type.equals(last)) {
                handOvers++;
            }
            last = type;
        }
        return new Summary(name, classes.size(), handOvers, entered.size());
    }

    private static String topLevel(String method) {
        String type = method.substring(0, method.lastIndexOf('.'));
        int nested = type.indexOf('$');
        return nested < 0 ? type : type.substring(0, nested);
    }

    @Override
    public String toString() {
        return walk + "," + classes + "," + handOvers + "," + calls;
    }
}
