package io.limiter.spring.internal.web;

import io.limiter.application.Limiter;
import io.limiter.internal.DiagnosticLog;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The client of the current request of Spring MVC: in controllers, and in methods that they call on the same thread.
 * The address is that of the filter ({@link ClientAddressResolver}). Thread-safe.
 */
public final class RequestCallers implements CallerSource {
    private static final Logger LOG = DiagnosticLog.of(RequestCallers.class);

    private final Supplier<ClientAddressResolver> addresses;

    /** A source with the addresses that this supplier's resolver finds. */
    public RequestCallers(Supplier<ClientAddressResolver> addresses) {
        this.addresses = addresses;
    }

    /** A source with addresses as configured now in a limiter. */
    public static RequestCallers of(Limiter limiter) {
        return new RequestCallers(limiter.<ClientAddressResolver>derive(config -> ClientAddressResolver.of(config))
                .reporting(LOG::warn, ClientAddressResolver::findings)::get);
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
