package io.limiter.servlet.rejection;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer.Body;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Answers.Begun;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.ResponseType;
import io.limiter.internal.config.HttpSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
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

    private static final ResponseType<HttpServletResponse> TYPE = new ResponseType<>(
            HttpServletResponse::isCommitted,
            (response, status) -> {
                response.resetBuffer();
                // Not sendError: that would dispatch the request to an error page, through the filters again.
                response.setStatus(status);
            },
            HttpServletResponse::reset,
            HttpServletResponse::setHeader,
            HttpServletResponse::addHeader,
            HttpServletResponse::getHeaders,
            (response, to) -> response.getHeaderNames().forEach(name -> to.accept(name, response.getHeaders(name))));

    private final Answers<RejectionHandler, HttpServletResponse> answers;

    Rejections(HttpSettings settings, @Nullable RejectionHandler handler, Clock clock) {
        this.answers = new Answers<>(settings, TYPE, handler, clock);
    }

    /**
     * Rejections as configured.
     *
     * @throws IllegalArgumentException if the configuration names a rejection handler that can't be made
     */
    public static Rejections of(LimiterConfig config) {
        NamedClasses classes = new NamedClasses(null, type -> null);
        return of(config, Answers.handler(config, null, classes, RejectionHandler.class));
    }

    /** The same, with this handler and not the configured one; null for the standard answer. */
    public static Rejections of(LimiterConfig config, @Nullable RejectionHandler handler) {
        return new Rejections(config.settings().http(), handler, Clock.systemUTC());
    }

    /** Writes the quota fields of a decision, allowed or not. Does nothing if the response is committed. */
    public void writeQuota(Decision decision, HttpServletRequest request, HttpServletResponse response) {
        answers.tryWriteQuota(decision, limits(request), response);
    }

    /**
     * Answers a denied request: status, fields and body. Does nothing if the response is committed.
     *
     * @throws IllegalArgumentException if the decision allows
     */
    public void write(Decision denial, HttpServletRequest request, HttpServletResponse response) throws IOException {
        Begun<Rejection> begun = answers.tryBegin(denial, limits(request), response, Rejection::new);
        RejectionHandler handler = answers.handler();
        if (begun == null) {
            return;
        }
        if (handler == null) {
            begun.answer().writeTo(request, response);
            return;
        }
        try {
            handler.reject(begun.answer(), request, response);
        } catch (Throwable failure) {
            if (answers.tryBeginAgain(failure, begun, response)) {
                begun.answer().writeTo(request, response);
            } else if (failure instanceof IOException gone) {
                // Nearly always it is the client's connection, which the server handles.
                throw gone;
            }
        }
    }

    /**
     * Answers a caller that is always denied, or a request that was held when the server stopped: a status and a problem
     * document (RFC 9457), without quota fields. The rejection handler is not called. Does nothing if the response is committed.
     *
     * @param status 403, 429 or 503
     */
    public void refuse(int status, HttpServletRequest request, HttpServletResponse response) throws IOException {
        Body body = answers.tryRefuse(status, response);
        if (body != null) {
            Rejection.send(request, response, body);
        }
    }

    /** Shared by all filters of a request. */
    private static LimitsInAnswer limits(HttpServletRequest request) {
        if (request.getAttribute(ATTRIBUTE) instanceof LimitsInAnswer known) {
            return known;
        }
        LimitsInAnswer fresh = new LimitsInAnswer();
        request.setAttribute(ATTRIBUTE, fresh);
        return fresh;
    }
}
