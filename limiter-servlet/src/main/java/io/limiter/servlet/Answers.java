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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
        this.exposed = settings.exposeHeaders() ? fields.exposed() : "";
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
            fields.add(decision, charged, new ServletFields(response));
        } else if (!decision.allowed()) {
            fields.denied(decision, charged, new ServletFields(response));
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
        Map<String, List<String>> before = fields(response);
        if (rejection.retryAfterSeconds().isEmpty() && before.keySet().removeAll(fields.promises())) {
            // What an earlier rule has promised reads as the time to try again. No servlet can remove one field.
            restore(before, response);
        }
        rejection.setHead(response);
        try {
            handler.reject(rejection, request, response);
        } catch (ServletException | IOException | RuntimeException failure) {
            findings.handlerFailed(handler, failure);
            if (!response.isCommitted()) {
                restore(before, response);
                rejection.setHead(response);
                rejection.writeTo(request, response);
            } else if (failure instanceof IOException gone) {
                // Nearly always the client's connection, which is the container's business.
                throw gone;
            }
            // Else what was sent is the answer. The exception of one handler, at each of very many denials, would fill
            // logs.
        }
    }

    private static Map<String, List<String>> fields(HttpServletResponse response) {
        Map<String, List<String>> fields = new LinkedHashMap<>();
        for (String name : response.getHeaderNames()) {
            fields.put(name, List.copyOf(response.getHeaders(name)));
        }
        return fields;
    }

    /** Leaves these fields alone: the Content-Encoding of a handler that failed would make the standard body unreadable. */
    private static void restore(Map<String, List<String>> fields, HttpServletResponse response) {
        response.reset();
        fields.forEach((name, values) -> {
            response.setHeader(name, values.get(0));
            values.stream().skip(1).forEach(value -> response.addHeader(name, value));
        });
    }
}
