package io.limiter.servlet.rejection;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.QuotaFields;
import io.limiter.http.internal.answer.Refusals;
import io.limiter.internal.config.HttpSettings;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes decisions to responses: the quota fields, and the whole answer to a denied request. The filter uses it; code
 * that decides elsewhere can use it too. Thread-safe.
 *
 * <pre>{@code
 * Derived<Rejections> rejections = limiter.derive(Rejections::of);
 * if (!decision.allowed()) {
 *     rejections.get().write(decision, request, response);
 * }
 * }</pre>
 */
public final class Rejections {
    /**
     * Not a plain name: a request can be forwarded from one application into another, which has these classes from
     * another class loader.
     */
    private static final String ATTRIBUTE = LimitsInAnswer.class.getName() + "." + UUID.randomUUID();

    private final QuotaFields quota;
    private final RejectionHandler handler;
    private final Refusals refusals = new Refusals();

    Rejections(HttpSettings settings, RejectionHandler handler, Clock clock) {
        this.quota = new QuotaFields(settings, clock);
        this.handler = handler;
    }

    /**
     * Rejections as configured.
     *
     * @throws IllegalArgumentException if the configuration names a rejection handler that can't be made
     */
    public static Rejections of(LimiterConfig config) {
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = ofThread == null ? Rejections.class.getClassLoader() : ofThread;
        return of(config, null, new NamedClasses(loader, type -> null));
    }

    /** The same, with a handler that replaces a configured one. */
    public static Rejections of(LimiterConfig config, RejectionHandler handler) {
        return new Rejections(config.settings().http(), Objects.requireNonNull(handler, "handler"), Clock.systemUTC());
    }

    /**
     * The same.
     *
     * @param handler answers denied requests; null for the configured one, or the standard answer
     * @param classes provides the configured one
     * @throws IllegalArgumentException if that can't be made
     */
    public static Rejections of(LimiterConfig config, @Nullable RejectionHandler handler, NamedClasses classes) {
        String name = config.settings().http().rejectionHandler();
        if (handler != null || name == null) {
            return of(config, handler == null ? Rejection::writeTo : handler);
        }
        return of(config, classes.get("limiter.http.rejection-handler", name, RejectionHandler.class));
    }

    /** Writes the quota fields of a decision, allowed or not. Does nothing if the response is committed. */
    public void writeQuota(Decision decision, HttpServletRequest request, HttpServletResponse response) {
        if (response.isCommitted()) {
            refusals.logCommitted();
            return;
        }
        quota.write(decision, limitsInAnswer(request), fields(response));
    }

    /**
     * Answers a denied request: status, fields and body. Does nothing if the response is committed.
     *
     * @throws IllegalArgumentException if the decision allows
     */
    public void write(Decision denial, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (denial.allowed()) {
            throw new IllegalArgumentException(
                    "the decision allows the request, so there is nothing to reject: " + denial);
        }
        writeQuota(denial, request, response);
        if (response.isCommitted()) {
            return;
        }
        Rejection rejection = new Rejection(denial, limitsInAnswer(request));
        response.resetBuffer();
        Map<String, List<String>> before = new LinkedHashMap<>();
        response.getHeaderNames().forEach(name -> before.put(name, List.copyOf(response.getHeaders(name))));
        if (rejection.retryAfterSeconds().isEmpty() && before.keySet().removeAll(quota.promises())) {
            // Fields of an earlier rule would be read as the time to try again. The servlet API can't remove single
            // fields.
            restore(before, response);
        }
        rejection.setHead(response);
        try {
            handler.reject(rejection, request, response);
        } catch (Throwable failure) {
            NamedClasses.rethrowFatal(failure);
            refusals.logFailed(handler, failure);
            if (!response.isCommitted()) {
                restore(before, response);
                rejection.setHead(response);
                rejection.writeTo(request, response);
            } else if (failure instanceof IOException gone) {
                // Nearly always the client's connection, which the container handles.
                throw gone;
            }
            // Otherwise what was sent is the answer. Throwing the handler's exception at every denial would fill the
            // logs.
        }
    }

    /**
     * Answers a caller that is always denied, or a request that was held when the server stopped: a status and a problem
     * document (RFC 9457), without quota fields. The rejection handler is not called. Does nothing if the response is committed.
     *
     * @param status 403, 429 or 503
     */
    public void refuse(int status, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (response.isCommitted()) {
            return;
        }
        response.resetBuffer();
        response.setStatus(status);
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("application/problem+json");
        Rejection.send(request, response, Refusals.problem(status));
    }

    /** Shared by all filters of a request. */
    private static LimitsInAnswer limitsInAnswer(ServletRequest request) {
        if (request.getAttribute(ATTRIBUTE) instanceof LimitsInAnswer known) {
            return known;
        }
        LimitsInAnswer fresh = new LimitsInAnswer();
        request.setAttribute(ATTRIBUTE, fresh);
        return fresh;
    }

    /** Leaves only these fields: the Content-Encoding of a failed handler would make the standard body unreadable. */
    private static void restore(Map<String, List<String>> fields, HttpServletResponse response) {
        response.reset();
        fields.forEach(fields(response)::setAll);
    }

    private static QuotaFields.ResponseFields fields(HttpServletResponse response) {
        // One object, not one for each method: made for each request.
        return new QuotaFields.ResponseFields() {
            @Override
            public void set(String field, String line) {
                response.setHeader(field, line);
            }

            @Override
            public void add(String field, String line) {
                response.addHeader(field, line);
            }

            @Override
            public Collection<String> lines(String field) {
                return response.getHeaders(field);
            }
        };
    }
}
