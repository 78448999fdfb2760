package io.limiter.kit;

import io.limiter.internal.config.ConfigKey;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What only pages and metadata show of the table of properties. */
public final class PropertyTable {
    private static final Pattern SECTION = Pattern.compile("(?m)^\\[(.+)] (.+)$");
    private static final Pattern CHOICE = Pattern.compile("- ([^:]+): (.+)");

    private PropertyTable() {}

    /** What the sections are about, in the order of the table. */
    public static Map<String, String> sections() {
        Map<String, String> all = new LinkedHashMap<>();
        Matcher section = SECTION.matcher(Vectors.text(ConfigKey.class, "properties.txt"));
        while (section.find()) {
            all.put(section.group(1), section.group(2));
        }
        return Collections.unmodifiableMap(all);
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
