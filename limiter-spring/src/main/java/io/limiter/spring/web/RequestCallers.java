package io.limiter.spring.web;

import io.limiter.config.ClientIpSettings;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Whose request this thread works for, as Spring MVC knows it: in controllers, and in what they call on the same thread. The
 * address is the filter's ({@link ClientAddressResolver}). Thread-safe.
 */
public final class RequestCallers implements CallerSource {
    private final ClientAddressResolver addresses;

    /** With addresses as configured: {@code limiter.client-ip}. */
    public RequestCallers(ClientIpSettings settings) {
        this.addresses = ClientAddressResolver.of(settings);
    }

    @Override
    public @Nullable Caller current() {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        return attributes instanceof ServletRequestAttributes ofServlet
                ? new Requester(ofServlet.getRequest(), addresses)
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
