package earlier;

import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

public final class TeapotAnswer implements RejectionHandler {
    @Override
    public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        response.setStatus(418);
        response.getWriter()
                .write(rejection.violatedPolicies() + " "
                        + rejection.retryAfterSeconds().orElse(-1));
    }
}
