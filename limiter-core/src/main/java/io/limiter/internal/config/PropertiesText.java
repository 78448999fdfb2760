package io.limiter.internal.config;

import java.io.IOException;
import java.io.LineNumberReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.MalformedInputException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;

/** Reads text as {@link Properties} does, but keeps lines and order, and refuses duplicate keys. */
public final class PropertiesText {
    private static final Pattern JOINED = Pattern.compile("(?s)^(?!\\s*[#!]).*(?<!\\\\)(?:\\\\\\\\)*+\\\\$");

    private PropertiesText() {}

    /** The entries of a text; mistakes are noted. */
    public static List<ConfigEntry> read(String source, Reader text, Problems problems) throws IOException {
        List<ConfigEntry> entries = new ArrayList<>();
        Map<String, Integer> lineOfKey = new HashMap<>();
        LineNumberReader lines = new LineNumberReader(text);
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int number = lines.getLineNumber();
                StringBuilder whole = new StringBuilder(number == 1 ? line.replaceFirst("^\uFEFF", "") : line);
                while (line != null && JOINED.matcher(whole).find()) {
                    line = lines.readLine();
                    whole.append('\n').append(line == null ? "" : line);
                }
                Properties entry = new Properties();
                try {
                    entry.load(new StringReader(whole.toString()));
                } catch (IllegalArgumentException malformed) {
                    // Without the text, which may contain a password.
                    problems.add(source, number, "RL-103 a \\u is not a character; write \\u and four hex digits");
                }
                for (String key : entry.stringPropertyNames()) {
                    entries.add(new ConfigEntry(
                            source, number, key, entry.getProperty(key).strip()));
                    Integer earlier = lineOfKey.put(key, number);
                    if (earlier != null) {
                        String twice = Problems.shown(key) + " is already set in line " + earlier;
                        problems.add(source, number, "RL-102 " + twice + "; keep one of the two");
                    }
                }
            }
        } catch (MalformedInputException notUtf8) {
            problems.add(source, 0, "RL-103 the text is not UTF-8; save it as UTF-8");
        }
        return entries;
    }
}
