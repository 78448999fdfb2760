package io.limiter.redis;

import io.limiter.internal.DiagnosticLog;
import org.slf4j.Logger;

/**
 * The answer to a call, to be delivered.
 *
 * @param inTime whether its caller still waits for it
 */
record Answered(Call call, Object replyOrFailure, boolean inTime) {
    private static final Logger LOG = DiagnosticLog.of(Answered.class);

    /** A failure for one caller does not affect the others. */
    void deliver() {
        try {
            if (inTime) {
                call.deliver(replyOrFailure);
            } else {
                call.deliverLate(replyOrFailure);
            }
        } catch (Throwable e) {
            LOG.debug("a caller could not be notified", e);
        }
    }
}
