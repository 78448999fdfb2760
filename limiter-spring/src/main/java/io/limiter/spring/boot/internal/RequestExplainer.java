package io.limiter.spring.boot.internal;

import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.http.internal.Door;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToIntBiFunction;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Explains requests, and which rules are of no use, by the filters of the application and the names of their beans.
 *
 * @param filters all of them
 * @param security the order of Spring Security's filter; the least number if there is none
 */
public record RequestExplainer(Supplier<List<Registered>> filters, Supplier<Integer> security) {
    /** A filter of the limiter. */
    public record Registered(String name, int order, Door<?> filter) {}

    /**
     * For filters that are beans.
     *
     * @param order of a filter, by the name of its bean
     * @param securityType the class of Spring Security's beans, by its name
     * @param ofSecurity the order of its filter, if there is such a bean
     */
    public static <D extends Door<?>> RequestExplainer of(
            ListableBeanFactory beans,
            Class<D> type,
            ToIntBiFunction<String, D> order,
            String securityType,
            int ofSecurity) {
        return new RequestExplainer(
                () -> beans.getBeansOfType(type).entrySet().stream()
                        .map(bean -> new Registered(
                                bean.getKey(), order.applyAsInt(bean.getKey(), bean.getValue()), bean.getValue()))
                        .toList(),
                () -> FilterPlaces.has(beans, securityType) ? ofSecurity : Integer.MIN_VALUE);
    }

    /**
     * What each filter would do with the request, in filter order. The first one that does not admit it answers it.
     *
     * @throws IllegalArgumentException if it can't be a request of this application
     */
    public Map<String, Explanation> explain(RequestSample sample) {
        int ofSecurity = security.get();
        RequestSample anonymous = sample.withUser(null, Set.of(), Map.of());
        Map<String, Explanation> all = new LinkedHashMap<>();
        filters.get().stream()
                .sorted(Comparator.comparingInt(Registered::order))
                // Before Spring Security the user is unknown.
                .forEach(one -> all.put(one.name, one.filter.explain(one.order < ofSecurity ? anonymous : sample)));
        return all;
    }

    /** By the name of each rule that has counted nothing, why. */
    public Map<String, String> unusedRules() {
        Map<String, String> unused = new HashMap<>();
        filters.get().forEach(one -> unused.putAll(one.filter.unusedRules()));
        return unused;
    }
}
