package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keys of policies and clients that look alike. */
class KeyVectorsTest {
    @Test
    void eachHasItsOwnAndNoneBreaksOut() throws IOException {
        List<String> rows;
        try (InputStream stream = KeyVectorsTest.class.getResourceAsStream("keys.txt")) {
            rows = new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
        Set<String> keys = new HashSet<>();
        for (String row : rows) {
            String[] columns = row.split(" \\| ", -1);
            Policy policy = Policy.of(columns[0], Limit.slidingList(1, Duration.ofSeconds(1)));
            PartitionKey client = PartitionKey.of(unescaped(columns[1]));
            assertEquals(columns[2], policy.name() + ":" + client.canonical(), row);
            keys.add(columns[2]);
        }
        assertEquals(15, rows.size());
        assertEquals(15, keys.size());
    }

    private static String unescaped(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (text.startsWith("\\u", i)) {
                plain.append((char) Integer.parseInt(text.substring(i + 2, i + 6), 16));
                i += 5;
            } else if (text.charAt(i) == '\\') {
                plain.append(text.charAt(++i) == 'r' ? '\r' : '\n');
            } else {
                plain.append(text.charAt(i));
            }
        }
        return plain.toString();
    }
}
