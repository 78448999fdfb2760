package io.limiter.spring.boot.actuate;

import io.limiter.servlet.RateLimitFilter;
import io.limiter.spring.boot.internal.RequestExplainer;
import io.limiter.spring.boot.internal.RequestExplainer.Registered;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.core.Ordered;

/** The servlet filters of an application. In one without the servlet API this class is not linked. */
final class FilterExplainer {
    private static final String SECURITY = "securityFilterChainRegistration";

    private FilterExplainer() {}

    static RequestExplainer of(ListableBeanFactory beans) {
        return new RequestExplainer(
                () -> filters(beans),
                () -> beans.containsBean(SECURITY)
                        ? beans.getBean(SECURITY, Ordered.class).getOrder()
                        : Integer.MIN_VALUE);
    }

    private static List<Registered> filters(ListableBeanFactory beans) {
        List<Registered> all = new ArrayList<>();
        beans.getBeansOfType(FilterRegistrationBean.class).forEach((name, bean) -> {
            if (bean.getFilter() instanceof RateLimitFilter filter) {
                all.add(new Registered(name, bean.getOrder(), filter));
            }
        });
        // Spring Boot registers a filter bean as the last one.
        beans.getBeansOfType(RateLimitFilter.class)
                .forEach((name, filter) -> all.add(new Registered(name, Ordered.LOWEST_PRECEDENCE, filter)));
        return all;
    }
}
