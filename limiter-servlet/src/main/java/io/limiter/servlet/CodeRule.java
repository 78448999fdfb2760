package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.http.Request;
import io.limiter.rule.Rule;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A rule of the application in code. The same rule is equal in all filters, so that they charge a request by it once. */
record CodeRule(Rule<? super HttpServletRequest> rule) implements Rule<Request> {
    @Override
    public @Nullable Charge charge(Request request) {
        return rule.charge(Objects.requireNonNull(request.unwrap(HttpServletRequest.class)));
    }
}
