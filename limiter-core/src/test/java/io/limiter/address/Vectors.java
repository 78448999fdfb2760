package io.limiter.address;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Tables of test vectors, a row a line, columns separated by a bar. */
final class Vectors {
    private Vectors() {}

    static List<String[]> of(String resource) {
        List<String[]> rows = new ArrayList<>();
        try (InputStream stream = Vectors.class.getResourceAsStream(resource)) {
            for (String line : new String(stream.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    rows.add(line.split(" \\| ", -1));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rows;
    }

    /** What a text in quotes says, with its escapes. */
    static String unquoted(String quoted) {
        String inside = quoted.substring(1, quoted.length() - 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < inside.length(); i++) {
            if (inside.startsWith("\\u", i)) {
                text.append((char) Integer.parseInt(inside.substring(i + 2, i + 6), 16));
                i += 5;
            } else {
                text.append(inside.charAt(i));
            }
        }
        return text.toString();
    }
}
