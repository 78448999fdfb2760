package earlier;

import io.limiter.PartitionKey;
import io.limiter.rule.KeyResolver;
import jakarta.servlet.http.HttpServletRequest;

public final class UserKey implements KeyResolver<HttpServletRequest> {
    @Override
    public PartitionKey resolve(HttpServletRequest request) {
        return PartitionKey.of("user:" + request.getHeader("Test-User"));
    }
}
