package io.limiter.spring.boot;

import java.util.List;

/** The keys that only a Spring Boot application has. */
final class BootKeys {
    /** Of limiter-core; here it decides which beans there are, too. */
    static final String ENABLED = "limiter.enabled";

    static final String FILTER_ENABLED = "limiter.filter.enabled";
    static final String FILTER_ORDER = "limiter.filter.order";
    static final String USER_FILTER_ORDER = "limiter.filter.user-order";

    static final List<String> ALL = List.of(FILTER_ENABLED, FILTER_ORDER, USER_FILTER_ORDER);

    private BootKeys() {}

    /** Whether it is on or off; the others are whole numbers. */
    static boolean isSwitch(String key) {
        return key.endsWith("enabled");
    }

    static boolean fits(String key, String text) {
        return isSwitch(key)
                ? text.matches("true|false")
                : text.matches("[+-]?[0-9]{1,10}") && Long.parseLong(text) == (int) Long.parseLong(text);
    }
}
