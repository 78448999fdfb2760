package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import java.util.function.Supplier;
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

    /** Over the endpoint. */
    RateLimitsWebExtension(RateLimitsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** {@code GET /actuator/ratelimits/{policy}?key=...}. */
    @ReadOperation
    public WebEndpointResponse<Object> peek(@Selector String policy, String key) {
        return answer(policy, () -> {
            KeyReport report = endpoint.peek(policy, key);
            return new WebEndpointResponse<>(
                    report,
                    report.limits().isEmpty()
                            ? WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE
                            : WebEndpointResponse.STATUS_OK);
        });
    }

    /** {@code DELETE /actuator/ratelimits/{policy}?key=...}. */
    @DeleteOperation
    public WebEndpointResponse<Object> reset(@Selector String policy, String key) {
        return answer(policy, () -> new WebEndpointResponse<>(endpoint.reset(policy, key)));
    }

    private WebEndpointResponse<Object> answer(String policy, Supplier<WebEndpointResponse<Object>> asked) {
        if (endpoint.find(policy) == null) {
            return failure(endpoint.noPolicy(policy), WebEndpointResponse.STATUS_NOT_FOUND);
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
