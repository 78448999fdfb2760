package io.limiter.example.fair.shell;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** The message when another process listens on the port, in words of the command that starts this site. */
@Order(Ordered.HIGHEST_PRECEDENCE)
class TakenPort extends AbstractFailureAnalyzer<PortInUseException> {
    @Override
    protected FailureAnalysis analyze(Throwable failure, PortInUseException taken) {
        int free = taken.getPort() == 9000 ? 9001 : 9000;
        return new FailureAnalysis(
                "Port " + taken.getPort() + " is taken: another process listens on it.",
                "Stop that process, or take another port: mvn -Pfair package -Dserver.port=" + free,
                failure);
    }
}
