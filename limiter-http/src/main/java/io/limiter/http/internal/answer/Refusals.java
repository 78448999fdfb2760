package io.limiter.http.internal.answer;

import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.util.Map;
import org.slf4j.Logger;

/** What a door sends or logs if it can't send the answer to a decision. Thread-safe. */
public final class Refusals {
    private static final Logger LOG = DiagnosticLog.of(Refusals.class);
    private static final Map<Integer, String> TITLES =
            Map.of(403, "Forbidden", 429, "Too Many Requests", 503, "Service Unavailable");

    private final Throttle committedLog = Throttle.hourly(TimeSource.system()::nowMicros);
    private final Throttle failureLog = Throttle.hourly(TimeSource.system()::nowMicros);

    /** Nothing was logged yet. */
    public Refusals() {}

    /** The problem document (RFC 9457) for a caller that is always denied, or a request that was held when the server stopped. */
    public static String problem(int status) {
        return "{\"type\":\"about:blank\",\"title\":\"" + TITLES.get(status) + "\",\"status\":" + status + "}";
    }

    /** Logs that it was too late for fields. */
    public void logCommitted() {
        if (committedLog.tryPass()) {
            LOG.warn("RL-321 the response was committed before the request reached the limiter, so no"
                    + " answer or quota fields can be sent; map the limiter's filter before the one that answers. Logged once an"
                    + " hour");
        }
    }

    /** Logs that a handler of the application failed. */
    public void logFailed(Object handler, Throwable failure) {
        if (failureLog.tryPass()) {
            LOG.warn(
                    "RL-322 the rejection handler {} failed, so the standard answer is sent, or the answer"
                            + " is what it has sent already. Logged once an hour",
                    handler.getClass().getName(),
                    failure);
        }
    }
}
