package io.limiter.spring.boot.actuate;

import io.limiter.http.Explanation;
import io.limiter.http.RequestSample;
import io.limiter.servlet.RateLimitFilter;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.Ordered;

/**
 * Explains requests, and which rules are of no use, by the filters of the application and the names of their beans. There is none in
 * an application without the servlet API, where this class is not linked.
 */
record FilterExplainer(ListableBeanFactory beans) {
    private static final String SECURITY = "securityFilterChainRegistration";

    private record Registered(String name, RateLimitFilter filter, int order) {}

    /**
     * What each filter would do with the request, in filter order. The first one that does not admit it answers it.
     *
     * @throws IllegalArgumentException if it can't be a request of this application
     */
    Map<String, Explanation> explain(RequestSample sample) {
        int security = beans.containsBean(SECURITY)
                ? beans.getBean(SECURITY, Ordered.class).getOrder()
                : Integer.MIN_VALUE;
        RequestSample anonymous = sample.withUser(null, Set.of(), Map.of());
        Map<String, Explanation> all = new LinkedHashMap<>();
        for (Registered one : filters()) {
            // Before Spring Security the user is unknown.
            all.put(one.name, one.filter.explain(one.order < security ? anonymous : sample));
        }
        return all;
    }

    /** By the name of each rule that has counted nothing, why. */
    Map<String, String> unusedRules() {
        Map<String, String> unused = new HashMap<>();
        filters().forEach(one -> unused.putAll(one.filter.unusedRules()));
        return unused;
    }

    private List<Registered> filters() {
        List<Registered> all = new ArrayList<>();
        beans.getBeansOfType(FilterRegistrationBean.class).forEach((name, bean) -> {
            if (bean.getFilter() instanceof RateLimitFilter filter) {
                all.add(new Registered(name, filter, bean.getOrder()));
            }
        });
        // Spring Boot registers a filter bean as the last one.
        beans.getBeansOfType(RateLimitFilter.class)
                .forEach((name, filter) -> all.add(new Registered(name, filter, Ordered.LOWEST_PRECEDENCE)));
        all.sort(Comparator.comparingInt(Registered::order));
        return all;
    }

    /** A sample of a request is a proxy. */
    static final class Hints implements RuntimeHintsRegistrar {
        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            hints.proxies().registerJdkProxy(HttpServletRequest.class);
        }
    }
}
