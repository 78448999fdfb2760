package io.limiter.spring.boot;

import java.util.Map;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.PropertySource;

/**
 * Where a value stands.
 *
 * @param source the file or place
 * @param line the line in it, from 1; 0 where there are no lines
 */
record Place(String source, int line) {
    private static final Map<String, String> NAMES = Map.of(
            "commandLineArgs", "the command line",
            "systemProperties", "the system properties",
            "spring.application.json", "SPRING_APPLICATION_JSON");

    static Place of(PropertySource<?> source, String name) {
        Origin origin = OriginLookup.getOrigin(source, name);
        if (origin instanceof TextResourceOrigin text && text.getLocation() != null) {
            String whole = text.toString();
            String end = " - " + text.getLocation();
            return new Place(
                    whole.endsWith(end) ? whole.substring(0, whole.length() - end.length()) : whole,
                    text.getLocation().getLine() + 1);
        }
        return new Place(
                origin == null ? NAMES.getOrDefault(source.getName(), source.getName()) : origin.toString(), 0);
    }
}
