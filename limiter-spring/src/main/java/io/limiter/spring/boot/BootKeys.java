package io.limiter.spring.boot;

import java.util.List;

/** The keys for Spring Boot applications only. */
final class BootKeys {
    /** A key of limiter-core, which also decides here which beans exist. */
    static final String ENABLED = "limiter.enabled";

    static final String FILTER_ENABLED = "limiter.filter.enabled";
    static final String FILTER_ORDER = "limiter.filter.order";
    static final String USER_FILTER_ORDER = "limiter.filter.user-order";

    static final List<String> ALL = List.of(FILTER_ENABLED, FILTER_ORDER, USER_FILTER_ORDER);

    private BootKeys() {}

    /** Whether its value is a boolean; the others are whole numbers. */
    static boolean isSwitch(String key) {
        return key.endsWith("enabled");
    }

    static boolean fits(String key, String text) {
        return isSwitch(key)
                ? text.matches("true|false")
                : text.matches("[+-]?[0-9]{1,10}") && Long.parseLong(text) == (int) Long.parseLong(text);
    }
}
