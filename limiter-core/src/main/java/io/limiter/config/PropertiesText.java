package io.limiter.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads properties text: {@code key = value} or {@code key: value}, comments with {@code #} or {@code !}, a backslash at
 * the end of a line joins the next, and the escapes of {@link java.util.Properties}. Unlike that class it keeps lines
 * and order, and does not take a key twice.
 */
final class PropertiesText {
    private final String source;
    private final Problems problems;
    private final List<ConfigEntry> entries = new ArrayList<>();
    private final Map<String, Integer> lineOfKey = new HashMap<>();

    private PropertiesText(String source, Problems problems) {
        this.source = source;
        this.problems = problems;
    }

    static List<ConfigEntry> parse(String source, String text, Problems problems) {
        PropertiesText parser = new PropertiesText(source, problems);
        String withoutMark = text.startsWith("\uFEFF") ? text.substring(1) : text;
        parser.lines(withoutMark.split("\r\n|\r|\n", -1));
        return parser.entries;
    }

    private void lines(String[] lines) {
        int i = 0;
        while (i < lines.length) {
            int first = i + 1;
            StringBuilder line = new StringBuilder(lines[i++].stripLeading());
            if (line.toString().isBlank() || line.charAt(0) == '#' || line.charAt(0) == '!') {
                continue;
            }
            while (endsInBackslash(line) && i < lines.length) {
                line.setLength(line.length() - 1);
                line.append(lines[i++].stripLeading());
            }
            entry(first, line.toString());
        }
    }

    private static boolean endsInBackslash(CharSequence line) {
        int count = 0;
        while (count < line.length() && line.charAt(line.length() - 1 - count) == '\\') {
            count++;
        }
        return count % 2 == 1;
    }

    private void entry(int number, String line) {
        int separator = separator(line);
        if (separator < 0) {
            problems.add(
                    Problems.UNREADABLE,
                    source,
                    number,
                    "'" + Problems.shown(line.split("\\s", 2)[0]) + " ...' has no '='; write key = value");
            return;
        }
        String key = unescaped(number, line.substring(0, separator).strip());
        String value = unescaped(number, line.substring(separator + 1).strip());
        Integer earlier = lineOfKey.putIfAbsent(key, number);
        if (earlier != null) {
            problems.add(
                    Problems.TWICE,
                    source,
                    number,
                    Problems.shown(key) + " stands already in line " + earlier + "; keep one of the two");
            return;
        }
        entries.add(new ConfigEntry(source, number, key, value));
    }

    private static int separator(String line) {
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '=' || c == ':') {
                return i;
            }
        }
        return -1;
    }

    private String unescaped(int number, String text) {
        if (text.indexOf('\\') < 0) {
            return text;
        }
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\' || i + 1 == text.length()) {
                plain.append(c);
                continue;
            }
            char escape = text.charAt(++i);
            switch (escape) {
                case 'n' -> plain.append('\n');
                case 't' -> plain.append('\t');
                case 'r' -> plain.append('\r');
                case 'f' -> plain.append('\f');
                case 'u' -> i = unicode(number, text, i, plain);
                default -> plain.append(escape);
            }
        }
        return plain.toString();
    }

    private int unicode(int number, String text, int at, StringBuilder plain) {
        String hex = text.substring(at + 1, Math.min(text.length(), at + 5));
        if (!hex.matches("[0-9a-fA-F]{4}")) {
            problems.add(
                    Problems.UNREADABLE,
                    source,
                    number,
                    "'\\u" + hex + "' is no character; write \\u and four hex digits");
            return at;
        }
        plain.append((char) Integer.parseInt(hex, 16));
        return at + 4;
    }
}
