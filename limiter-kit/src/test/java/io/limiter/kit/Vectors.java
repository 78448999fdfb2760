package io.limiter.kit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Files of test vectors. */
public final class Vectors {
    private Vectors() {}

    /** The lines of a resource beside this class that are neither empty nor comments. */
    public static List<String> lines(Class<?> beside, String resource) {
        return text(beside, resource)
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
    }

    /** The whole resource. */
    static String text(Class<?> beside, String resource) {
        try (InputStream stream = beside.getResourceAsStream(resource)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same lines, split into columns at bars. */
    public static List<String[]> rows(Class<?> beside, String resource) {
        return lines(beside, resource).stream()
                .map(line -> line.split(" \\| ", -1))
                .toList();
    }

    /** A text with its escapes of four hex digits, and those of line ends, resolved. */
    public static String unescaped(String text) {
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
