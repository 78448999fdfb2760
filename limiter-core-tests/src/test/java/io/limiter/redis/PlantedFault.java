package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A fault that is planted into a script: other text instead of the right one. */
record PlantedFault(String name, String right, String wrong) implements UnaryOperator<String> {
    static final PlantedFault NONE = new PlantedFault("none", "nothing", "nothing");

    /** The script with the fault. */
    @Override
    public String apply(String text) {
        return text.replace(right, wrong);
    }

    /** @param findings what tests notice of a fault; empty for nothing */
    void assertIsFound(Script script, Function<PlantedFault, String> findings) {
        assertTrue(script.text().contains(right), "the script has changed; plant this fault anew: " + this);
        assertNotEquals("", findings.apply(this), "nobody noticed " + this);
    }

    @Override
    public String toString() {
        return name;
    }
}
