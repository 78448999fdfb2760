package io.limiter.spring.internal.web;

import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.internal.WebAppChecks;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The client of the current request of Spring MVC: in controllers, and in methods that they call on the same thread.
 * The address is that of the filter ({@link ClientAddressResolver}). Thread-safe.
 */
final class RequestCallers implements CallerSource, SmartInitializingSingleton {
    private static final Logger LOG = LoggerFactory.getLogger(RequestCallers.class);

    private final Limiter limiter;
    private final ObjectProvider<RateLimitedPostProcessor> annotations;
    private final ObjectProvider<ServletContext> webApp;
    private final Derived<ClientAddressResolver> addresses;

    /** A source with addresses as configured now in a limiter. When all beans are there, it reports that something replaces them. */
    RequestCallers(
            Limiter limiter,
            ObjectProvider<RateLimitedPostProcessor> annotations,
            ObjectProvider<ServletContext> webApp) {
        this.limiter = limiter;
        this.annotations = annotations;
        this.webApp = webApp;
        this.addresses = limiter.<ClientAddressResolver>derive(config -> ClientAddressResolver.of(config))
                .reporting(LOG::warn, ClientAddressResolver::findings);
    }

    /** The filters of the limiter report it where there are rules; before that, annotations are not known. */
    @Override
    public void afterSingletonsInstantiated() {
        if (annotations.stream().anyMatch(RateLimitedPostProcessor::usesAddresses)) {
            webApp.ifAvailable(found -> new WebAppChecks(found, found.getClassLoader())
                    .warnOfAddresses(limiter.config().settings()));
        }
    }

    @Override
    public @Nullable Caller current() {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        return attributes instanceof ServletRequestAttributes ofServlet
                ? new Requester(ofServlet.getRequest(), addresses.get())
                : null;
    }

    private record Requester(HttpServletRequest request, ClientAddressResolver addresses) implements Caller {
        @Override
        public String address() {
            return addresses.resolve(request).text();
        }

        @Override
        public @Nullable Principal principal() {
            return request.getUserPrincipal();
        }
    }
}
