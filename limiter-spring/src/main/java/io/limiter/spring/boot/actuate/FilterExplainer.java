package io.limiter.spring.boot.actuate;

import io.limiter.servlet.Explanation;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.RequestSample;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
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
final class FilterExplainer {
    private static final String SECURITY = "securityFilterChainRegistration";

    private final ListableBeanFactory beans;

    FilterExplainer(ListableBeanFactory beans) {
        this.beans = beans;
    }

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
        Stream<Registered> registered = beans.getBeansOfType(FilterRegistrationBean.class).entrySet().stream()
                .filter(bean -> bean.getValue().getFilter() instanceof RateLimitFilter)
                .map(bean -> new Registered(
                        bean.getKey(),
                        (RateLimitFilter) bean.getValue().getFilter(),
                        bean.getValue().getOrder()));
        // Spring Boot registers a filter bean as the last one.
        Stream<Registered> plain = beans.getBeansOfType(RateLimitFilter.class).entrySet().stream()
                .map(bean -> new Registered(bean.getKey(), bean.getValue(), Ordered.LOWEST_PRECEDENCE));
        return Stream.concat(registered, plain)
                .sorted(Comparator.comparingInt(Registered::order))
                .toList();
    }

    /** A sample of a request is a proxy. */
    static final class Hints implements RuntimeHintsRegistrar {
        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            hints.proxies().registerJdkProxy(HttpServletRequest.class);
        }
    }
}
