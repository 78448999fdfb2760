package io.limiter.config;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A configuration has mistakes, in its text or in the values that code gives. The message lists all of them, each with its
 * property, its value and a remedy, and with its place where there is text.
 */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> found;

    ConfigException(List<Problem> found) {
        super(message(found));
        this.found = List.copyOf(found);
    }

    private static String message(List<Problem> found) {
        String source = found.get(0).at().source();
        boolean oneSource = isOfOneSource(found);
        return (oneSource && !source.isEmpty() ? source : "the configuration") + " has " + found.size()
                + (found.size() == 1 ? " problem:" : " problems:")
                + lines(found).map(line -> "\n  " + line).collect(Collectors.joining());
    }

    private static Stream<String> lines(List<Problem> found) {
        boolean oneSource = isOfOneSource(found);
        return found.stream().map(problem -> problem.place(oneSource) + problem.message());
    }

    private static boolean isOfOneSource(List<Problem> found) {
        return found.stream().map(problem -> problem.at().source()).distinct().count() == 1;
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return lines(found).toList();
    }

    /** The same, for callers that know the places of the properties. */
    List<Problem> found() {
        return found;
    }
}
