package io.limiter.http.internal.address;

import static org.mockito.Mockito.mock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.helpers.MessageFormatter;

/** A log that keeps its lines. */
final class Warnings {
    private final List<String> lines = new ArrayList<>();

    Logger logger() {
        return mock(Logger.class, call -> {
            if (call.getMethod().getName().equals("warn")) {
                Object[] arguments = call.getArguments();
                lines.add(MessageFormatter.arrayFormat(
                                (String) arguments[0], Arrays.copyOfRange(arguments, 1, arguments.length))
                        .getMessage());
            }
            return null;
        });
    }

    /** What was logged since the last time that it was asked for. */
    List<String> taken() {
        List<String> taken = List.copyOf(lines);
        lines.clear();
        return taken;
    }
}
