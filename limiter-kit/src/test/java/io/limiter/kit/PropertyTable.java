package io.limiter.kit;

import io.limiter.internal.config.ConfigKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What only pages and metadata show of the table of properties. */
public final class PropertyTable {
    private static final Pattern SECTION = Pattern.compile("(?m)^\\[(.+)] (.+)$");
    private static final Pattern CHOICE = Pattern.compile("- ([^:]+): (.+)");

    private PropertyTable() {}

    /** What the sections are about, in the order of the table. */
    public static Map<String, String> sections() {
        try (InputStream table = Objects.requireNonNull(ConfigKey.class.getResourceAsStream("properties.txt"))) {
            Map<String, String> all = new LinkedHashMap<>();
            Matcher section = SECTION.matcher(new String(table.readAllBytes(), StandardCharsets.UTF_8));
            while (section.find()) {
                all.put(section.group(1), section.group(2));
            }
            return Collections.unmodifiableMap(all);
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
    }

    /** What a property can be, with a sentence for each; empty for other types than a choice. */
    public static Map<String, String> choices(ConfigKey key) {
        Map<String, String> choices = new LinkedHashMap<>();
        for (String line : key.about()) {
            Matcher choice = CHOICE.matcher(line);
            if (choice.matches()) {
                choices.put(choice.group(1), choice.group(2));
            }
        }
        return choices;
    }
}
