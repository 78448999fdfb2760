package io.limiter.config;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.MalformedInputException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads properties text: {@code key = value} or {@code key: value}, comments with {@code #} or {@code !}, a backslash at
 * the end of a line joins the next, and the escapes of {@link Properties}. Unlike that class it keeps lines and order, and
 * takes neither a key twice nor a line without a separator.
 */
final class PropertiesText {
    private static final Pattern JOINED = Pattern.compile("(?:^|[^\\\\])(?:\\\\\\\\)*\\\\$");
    private static final Pattern ENTRY = Pattern.compile("((?:[^\\\\=:]++|\\\\.)*+)[=:](.*)", Pattern.DOTALL);

    private PropertiesText() {}

    /** The entries of a text; what is wrong with it is noted. */
    static List<ConfigEntry> read(String source, Reader text, Problems problems) throws IOException {
        StringWriter all = new StringWriter();
        try {
            text.transferTo(all);
        } catch (MalformedInputException notUtf8) {
            problems.add(Problems.UNREADABLE, source, 0, "the text is not UTF-8; save it as UTF-8");
            return List.of();
        }
        List<ConfigEntry> entries = new ArrayList<>();
        Map<String, Integer> lineOfKey = new HashMap<>();
        String[] lines = all.toString().replaceFirst("^\uFEFF", "").split("\r\n|\r|\n", -1);
        int next = 0;
        while (next < lines.length) {
            int number = next + 1;
            String line = lines[next++].strip();
            if (line.isEmpty() || line.charAt(0) == '#' || line.charAt(0) == '!') {
                continue;
            }
            while (JOINED.matcher(line).find() && next < lines.length) {
                line = line.substring(0, line.length() - 1) + lines[next++].strip();
            }
            Matcher parts = ENTRY.matcher(line);
            try {
                if (!parts.matches()) {
                    throw new IllegalArgumentException(
                            "'" + Problems.shown(line.split("\\s", 2)[0]) + " ...' has no '='; write key = value");
                }
                String key = unescaped(parts.group(1).strip());
                entries.add(new ConfigEntry(
                        source, number, key, unescaped(parts.group(2).strip())));
                Integer earlier = lineOfKey.putIfAbsent(key, number);
                if (earlier != null) {
                    String twice = Problems.shown(key) + " stands already in line " + earlier + "; keep one of the two";
                    problems.add(Problems.TWICE, source, number, twice);
                }
            } catch (IllegalArgumentException unreadable) {
                problems.add(Problems.UNREADABLE, source, number, String.valueOf(unreadable.getMessage()));
            }
        }
        return entries;
    }

    private static String unescaped(String text) {
        if (text.indexOf('\\') < 0) {
            return text;
        }
        Properties plain = new Properties();
        try {
            plain.load(new StringReader("=" + text));
            return plain.getProperty("", "");
        } catch (IllegalArgumentException | IOException malformed) {
            // Without the text, which may be a password.
            throw new IllegalArgumentException("a \\u is no character; write \\u and four hex digits", malformed);
        }
    }
}
