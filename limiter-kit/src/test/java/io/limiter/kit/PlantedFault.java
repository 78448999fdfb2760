package io.limiter.kit;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A fault that is planted into a script or a class: other text instead of the right one.
 *
 * @param where the file, or the algorithm of the script
 */
public record PlantedFault(String where, String name, String right, String wrong) implements UnaryOperator<String> {
    public static final PlantedFault NONE = new PlantedFault("", "none", "nothing", "nothing");

    /** Those of tables with a line for each: its name, the right text, and the wrong one, which may be nothing. */
    public static Stream<PlantedFault> in(String where, String... tables) {
        return Stream.of(tables).flatMap(String::lines).map(line -> {
            String[] cells = line.replace("\\n", "\n").split(" ## ?", -1);
            return new PlantedFault(where, cells[0], cells[1], cells[2]);
        });
    }

    /** The text with the fault. */
    @Override
    public String apply(String text) {
        return text.replace(right, wrong);
    }

    /** @param findings what tests notice of a fault; empty for nothing */
    public void assertIsFound(String text, Function<PlantedFault, String> findings) {
        assertTrue(text.contains(right), "the source has changed; plant this fault anew: " + this);
        assertNotEquals("", findings.apply(this), "nobody noticed " + this);
    }

    @Override
    public String toString() {
        return where + ": " + name;
    }
}
