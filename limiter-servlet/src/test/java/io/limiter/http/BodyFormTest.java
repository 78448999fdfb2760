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
    private static final Map<String, DenialAnswer.BodyForm> FORMS = Map.of(
            "problem",
            DenialAnswer.BodyForm.PROBLEM_JSON,
            "text",
            DenialAnswer.BodyForm.TEXT,
            "html",
            DenialAnswer.BodyForm.HTML);

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

        assertEquals(FORMS.get(sides[0].strip()), DenialAnswer.BodyForm.preferred(accept));
    }

    @Test
    void noLinesAtAll() {
        assertEquals(DenialAnswer.BodyForm.PROBLEM_JSON, DenialAnswer.BodyForm.preferred(null));
    }
}
