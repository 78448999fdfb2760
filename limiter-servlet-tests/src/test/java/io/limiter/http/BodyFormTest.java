package io.limiter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.servlet.VectorFile;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BodyFormTest {
    private static final Map<String, String> TYPES =
            Map.of("problem", "application/problem+json", "text", "text/plain", "html", "text/html");

    static Stream<String> lines() throws IOException {
        return VectorFile.lines("/vectors/accept.txt").stream();
    }

    @Test
    void allAreHere() throws IOException {
        assertEquals(27, lines().count());
    }

    @ParameterizedTest
    @MethodSource("lines")
    void theBodyIsTheOneThatIsWanted(String line) {
        String[] sides = line.split("<-", 2);
        List<String> accept = sides[1].isBlank() ? List.of() : Arrays.asList(sides[1].split(" // ", -1));

        assertEquals(TYPES.get(sides[0].strip()), DenialAnswer.preferred(accept));
    }

    @Test
    void noLinesAtAll() {
        assertEquals("application/problem+json", DenialAnswer.preferred(null));
    }
}
