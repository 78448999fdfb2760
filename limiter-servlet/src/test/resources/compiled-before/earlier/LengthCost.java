package earlier;

import io.limiter.rule.Cost;
import jakarta.servlet.http.HttpServletRequest;

public final class LengthCost implements Cost<HttpServletRequest> {
    @Override
    public long permits(HttpServletRequest request) {
        return request.getQueryString() == null ? 1 : request.getQueryString().length();
    }
}
