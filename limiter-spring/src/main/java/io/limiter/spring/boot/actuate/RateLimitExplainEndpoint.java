package io.limiter.spring.boot.actuate;

import io.limiter.http.RequestSample;
import io.limiter.spring.boot.internal.RequestExplainer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.StringUtils;

/**
 * The endpoint {@code ratelimitexplain}: what the filters of this application would do with a request, and why. It changes
 * nothing, so it is not part of {@code ratelimits}, whose writes do. Over HTTP: 404 without filters, 400 for what is no
 * request. Thread-safe.
 */
@ConditionalOnAvailableEndpoint(RateLimitExplainEndpoint.class)
@WebEndpoint(id = "ratelimitexplain")
record RateLimitExplainEndpoint(ObjectProvider<RequestExplainer> explainer) {
    /**
     * {@code POST /actuator/ratelimitexplain} with a body of JSON. Takes nothing. A POST, because headers can contain secrets, which must not be in a URL.
     *
     * @param path as a client sends it, with its query
     * @param address of the client, or of the last proxy before this server
     * @param method {@code GET} if it is omitted
     * @param headers lines of {@code Name: value}
     * @param user the authenticated user
     * @param roles of that user, separated by commas
     * @param attributes of that user, such as {@code plan=gold}, separated by commas
     */
    @WriteOperation
    public WebEndpointResponse<Object> explain(
            String path,
            String address,
            @org.springframework.lang.Nullable @Nullable String method,
            @org.springframework.lang.Nullable @Nullable String headers,
            @org.springframework.lang.Nullable @Nullable String user,
            @org.springframework.lang.Nullable @Nullable String roles,
            @org.springframework.lang.Nullable @Nullable String attributes) {
        RequestExplainer filters = explainer.getIfAvailable();
        if (filters == null) {
            return RateLimitsEndpoint.failure(404, "this application has no filter of the limiter");
        }
        try {
            Map<String, String> ofUser = new HashMap<>();
            for (String attribute : StringUtils.tokenizeToStringArray(attributes, ",")) {
                String[] pair = attribute.split("=", 2);
                ofUser.put(pair[0].strip(), pair.length == 1 ? "" : pair[1].strip());
            }
            return new WebEndpointResponse<>(filters.explain(RequestSample.of(
                            method == null ? "GET" : method, path, address)
                    .withHeaders(headers == null ? "" : headers)
                    .withUser(user, Set.copyOf(List.of(StringUtils.tokenizeToStringArray(roles, ","))), ofUser)));
        } catch (IllegalArgumentException noRequest) {
            return RateLimitsEndpoint.failure(400, noRequest.getMessage());
        }
    }
}
