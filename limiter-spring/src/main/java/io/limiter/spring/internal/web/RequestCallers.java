package io.limiter.spring.internal.web;

import io.limiter.application.Limiter;
import io.limiter.internal.DiagnosticLog;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.internal.WebAppChecks;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The client of the current request of Spring MVC: in controllers, and in methods that they call on the same thread.
 * The address is that of the filter ({@link ClientAddressResolver}). Thread-safe.
 */
public final class RequestCallers implements CallerSource, SmartInitializingSingleton {
    private static final Logger LOG = DiagnosticLog.of(RequestCallers.class);

    private final Supplier<ClientAddressResolver> addresses;
    private final Runnable check;

    /**
     * A source with the addresses that this supplier's resolver finds.
     *
     * @param check runs when all beans are there
     */
    public RequestCallers(Supplier<ClientAddressResolver> addresses, Runnable check) {
        this.addresses = addresses;
        this.check = check;
    }

    /** A source with addresses as configured now in a limiter. When all beans are there, it reports that something replaces them. */
    public static RequestCallers of(
            Limiter limiter,
            ObjectProvider<RateLimitedPostProcessor> annotations,
            ObjectProvider<ServletContext> webApp) {
        return new RequestCallers(
                limiter.<ClientAddressResolver>derive(config -> ClientAddressResolver.of(config))
                        .reporting(LOG::warn, ClientAddressResolver::findings)::get,
                () -> {
                    if (annotations.stream().anyMatch(RateLimitedPostProcessor::usesAddresses)) {
                        webApp.ifAvailable(found -> new WebAppChecks(found, found.getClassLoader())
                                .warnOfAddresses(limiter.config().settings()));
                    }
                });
    }

    /** The filters of the limiter report it where there are rules; before that, annotations are not known. */
    @Override
    public void afterSingletonsInstantiated() {
        check.run();
    }

    @Override
    public @Nullable Caller current() {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        return attributes instanceof ServletRequestAttributes ofServlet
                ? new Requester(ofServlet.getRequest(), addresses.get())
                : null;
    }

    @Override
    public boolean isOfWebRequestsOnly() {
        return true;
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
