package io.limiter.example.site;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Reports that another process listens on the port, with the option of the command that starts this site. */
@Order(Ordered.HIGHEST_PRECEDENCE)
class TakenPort extends AbstractFailureAnalyzer<PortInUseException> {
    private static final int ANOTHER = 9000;

    @Override
    protected FailureAnalysis analyze(Throwable failure, PortInUseException taken) {
        int port = taken.getPort();
        int free = port == ANOTHER ? ANOTHER + 1 : ANOTHER;
        return new FailureAnalysis(
                "Port " + port + " is taken: another process listens on it, perhaps another voting site.",
                "Stop that process, or take another port: mvn -Psite package -Dserver.port=" + free,
                failure);
    }
}
