package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * {@link RateLimitsEndpoint} over HTTP, with statuses: 404 for a policy that is not there, 400 for a text that is no key, 503
 * where Redis did not answer and nobody knows. Thread-safe.
 */
@EndpointWebExtension(endpoint = RateLimitsEndpoint.class)
public class RateLimitsWebExtension {
    private final RateLimitsEndpoint endpoint;

    // A key may be left out, and is asked for then: of the two marks for that Spring Boot 3 reads the first, and 4 the
    // second.

    /** Over the endpoint. */
    RateLimitsWebExtension(RateLimitsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** {@code GET /actuator/ratelimits/{policy}?key=...}. */
    @ReadOperation
    public WebEndpointResponse<Object> peek(
            @Selector String policy, @org.springframework.lang.Nullable @Nullable String key) {
        return answer(policy, key, () -> {
            KeyReport report = endpoint.peek(policy, Objects.requireNonNull(key));
            return new WebEndpointResponse<>(
                    report,
                    report.limits().isEmpty()
                            ? WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE
                            : WebEndpointResponse.STATUS_OK);
        });
    }

    /** {@code DELETE /actuator/ratelimits/{policy}?key=...}. */
    @DeleteOperation
    public WebEndpointResponse<Object> reset(
            @Selector String policy, @org.springframework.lang.Nullable @Nullable String key) {
        return answer(
                policy, key, () -> new WebEndpointResponse<>(endpoint.reset(policy, Objects.requireNonNull(key))));
    }

    private WebEndpointResponse<Object> answer(
            String policy, @Nullable String key, Supplier<WebEndpointResponse<Object>> asked) {
        if (endpoint.find(policy) == null) {
            return failure(endpoint.noPolicy(policy), WebEndpointResponse.STATUS_NOT_FOUND);
        }
        if (key == null) {
            return failure(
                    "whose quota is missing; add ?key=192.0.2.1 or another key",
                    WebEndpointResponse.STATUS_BAD_REQUEST);
        }
        try {
            return asked.get();
        } catch (IllegalArgumentException noKey) {
            return failure(String.valueOf(noKey.getMessage()), WebEndpointResponse.STATUS_BAD_REQUEST);
        } catch (BackendException away) {
            return failure(String.valueOf(away.getMessage()), WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        }
    }

    private static WebEndpointResponse<Object> failure(String error, int status) {
        return new WebEndpointResponse<>(new KeyReport.Failure(error), status);
    }
}
