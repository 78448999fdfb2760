package io.limiter.benchmark;

import java.util.Collection;
import java.util.List;

/** The results of some rounds. NaN without any. */
public record Spread(double median, double least, double most) {
    /** The spread of these values; with an even count the median is between the two in the middle. */
    public static Spread of(Collection<Double> values) {
        if (values.isEmpty()) {
            return new Spread(Double.NaN, Double.NaN, Double.NaN);
        }
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
    }
}
