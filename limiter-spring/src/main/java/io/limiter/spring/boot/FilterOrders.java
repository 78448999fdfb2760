package io.limiter.spring.boot;

import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Where the filters stand among those of the application.
 *
 * @param first of the filter for rules that need no user
 * @param ofUsers of the filter for rules that are keyed by user
 */
record FilterOrders(int first, int ofUsers) {
    /**
     * After the filters that every answer needs (encoding, observation, a session of Spring Session), and before those that
     * read bodies: HiddenHttpMethodFilter at -10000, FormContentFilter at -9900.
     */
    static final int FIRST = -10_100;

    /** The default of {@code spring.security.filter.order}. */
    static final int OF_SECURITY = -100;

    static FilterOrders of(ConfigurableEnvironment environment) {
        int security = environment.getProperty("spring.security.filter.order", Integer.class, OF_SECURITY);
        ApplicationText text = ApplicationText.of(environment);
        FilterOrders orders = new FilterOrders(
                text.whole(BootKeys.FILTER_ORDER, security <= FIRST ? security - 1 : FIRST),
                text.whole(BootKeys.USER_FILTER_ORDER, security + 1));
        text.throwIfAny();
        return orders;
    }
}
