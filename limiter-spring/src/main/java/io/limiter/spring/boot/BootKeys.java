package io.limiter.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys for Spring Boot applications only. */
final class BootKeys {
    /** A key of limiter-core, which also decides here which beans exist. */
    static final String ENABLED = "limiter.enabled";

    static final String FILTER_ENABLED = "limiter.filter.enabled";
    static final String FILTER_ORDER = "limiter.filter.order";
    static final String USER_FILTER_ORDER = "limiter.filter.user-order";

    static final List<String> ALL = List.of(FILTER_ENABLED, FILTER_ORDER, USER_FILTER_ORDER);

    private BootKeys() {}

    /** What is wrong with the value of such a key, and what to write instead; null if nothing is. */
    static @Nullable String wrong(String key, String value) {
        if (key.endsWith("enabled")) {
            return value.matches("true|false") ? null : "not a boolean; write true or false";
        }
        return value.matches("[+-]?[0-9]{1,10}") && Long.parseLong(value) == (int) Long.parseLong(value)
                ? null
                : "not a whole number; write one such as 0 or -50";
    }
}
