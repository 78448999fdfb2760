package io.limiter.spring.web;

import io.limiter.Limiter;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.spring.Caller;
import io.limiter.spring.CallerSource;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Whose request this thread works for, as Spring MVC knows it: in controllers, and in what they call on the same thread. The
 * address is the filter's ({@link ClientAddressResolver}). Thread-safe.
 */
public final class RequestCallers implements CallerSource {
    private final Supplier<ClientAddressResolver> addresses;

    /** With the addresses that this finds at each request. */
    public RequestCallers(Supplier<ClientAddressResolver> addresses) {
        this.addresses = addresses;
    }

    /** With addresses as the present configuration of a limiter says. */
    public static RequestCallers of(Limiter limiter) {
        return new RequestCallers(limiter.derive(config -> ClientAddressResolver.of(config.clientIp()))::get);
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
