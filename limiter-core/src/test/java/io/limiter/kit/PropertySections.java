package io.limiter.kit;

import io.limiter.config.LimiterConfig;
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

/** The sections of the table of properties, which only pages and metadata show. */
public final class PropertySections {
    private static final Pattern SECTION = Pattern.compile("(?m)^\\[(.+)] (.+)$");

    private PropertySections() {}

    /** What the sections are about, in the order of the table. */
    public static Map<String, String> all() {
        try (InputStream table = Objects.requireNonNull(
                LimiterConfig.class.getResourceAsStream("/io/limiter/internal/config/properties.txt"))) {
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
}
