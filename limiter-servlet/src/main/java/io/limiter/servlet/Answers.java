package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.Collection;

/** What the filter tells a client: of every decision its fields, of a denial the whole answer. Thread-safe. */
final class Answers {
    private static final String EXPOSE = "Access-Control-Expose-Headers";

    private final Published published;
    private final QuotaFields fields;
    private final String exposed;
    private final RejectionHandler handler;
    private final Findings findings;

    Answers(
            HttpSettings settings,
            Collection<Policy> policies,
            RejectionHandler handler,
            Findings findings,
            Clock clock) {
        this.published = new Published(policies);
        this.fields = QuotaFields.of(settings, policies, published, clock);
        this.exposed =
                settings.exposeHeaders() ? (fields.names().isEmpty() ? "" : fields.names() + ", ") + "Retry-After" : "";
        this.handler = handler;
        this.findings = findings;
    }

    /** Tells the numbers of a decision, before anything else can commit the response. */
    void tell(Decision decision, ChargedOnce charged, HttpServletResponse response) {
        if (response.isCommitted()) {
            // Something before this filter has sent the answer. Adding to it would break it.
            findings.answeredBefore();
            return;
        }
        // A share, or a guess, is not what the client has left.
        if (decision.source().isExact()) {
            fields.add(decision, charged, response);
        }
        if (!exposed.isEmpty() && charged.isFirstToExpose()) {
            response.addHeader(EXPOSE, exposed);
        }
    }

    void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (response.isCommitted()) {
            return;
        }
        Rejection rejection = new Rejection(decision, published);
        response.resetBuffer();
        rejection.setHead(response);
        try {
            handler.reject(rejection, request, response);
        } catch (ServletException | IOException | RuntimeException failure) {
            if (response.isCommitted()) {
                throw failure instanceof IOException gone
                        ? gone
                        : new IOException("the rejection handler failed", failure);
            }
            findings.handlerFailed(handler, failure);
            response.resetBuffer();
            rejection.setHead(response);
            rejection.writeTo(request, response);
        }
    }
}
