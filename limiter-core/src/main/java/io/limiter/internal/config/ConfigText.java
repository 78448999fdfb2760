package io.limiter.internal.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.LineNumberReader;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads text of properties, and the texts that this library brings with it. */
public final class ConfigText {
    private static final int MOST_BYTES = 16 << 20;

    private static final Pattern JOINED = Pattern.compile("(?s)^(?!\\s*[#!]).*(?<!\\\\)(?:\\\\\\\\)*+\\\\$");

    /** Other text of these properties, such as {@code header:X-Plan} or {@code 10}, is not the name of a class. */
    private static final Pattern NAMED_CLASS =
            Pattern.compile("(?:limiter\\.rules\\..+\\.(?:(?:key|member)=class:|(?:cost|plan)=)"
                    + "|limiter\\.http\\.rejection-handler=)(?<type>[^0-9:-][^:]*)");

    private ConfigText() {}

    /**
     * The content of a configuration file.
     *
     * @throws IOException if it can't be read, is no regular file, or has more than 16 MB: a device may have no end, and a
     *     FIFO no writer
     */
    public static byte[] content(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("RL-160 " + file + " is no regular file; write the configuration into one");
        }
        try (InputStream bytes = Files.newInputStream(file)) {
            byte[] content = bytes.readNBytes(MOST_BYTES + 1);
            if (content.length > MOST_BYTES) {
                throw new IOException("RL-160 " + file + " has more than 16 MB; write the configuration alone into it");
            }
            return content;
        }
    }

    /** The text of a file beside a class of this library. */
    public static String resource(Class<?> beside, String file) {
        try (InputStream text = Objects.requireNonNull(beside.getResourceAsStream(file), file)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
    }

    /** The class that a property names; empty for none. */
    public static Optional<String> namedClass(String key, String value) {
        Matcher named = NAMED_CLASS.matcher(key + "=" + value);
        return named.matches() ? Optional.of(named.group("type")) : Optional.empty();
    }

    /** Reads text as {@link Properties} does, but keeps lines and order, and notes duplicate keys. */
    public static List<ConfigEntry> entries(String source, Reader text, Problems problems) throws IOException {
        List<ConfigEntry> read = new ArrayList<>();
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
                    read.add(new ConfigEntry(
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
        return read;
    }
}
