package io.limiter.spring.webflux;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.config.LimiterConfig;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Answers denied requests of WebFlux as the servlet filter does: the same status, fields and problem document. Thread-safe. */
final class ReactiveRejections {
    private final LimiterConfig config;
    private final QuotaHeaders fields;

    ReactiveRejections(LimiterConfig config) {
        this.config = config;
        this.fields = new QuotaHeaders(config.http(), Clock.systemUTC());
    }

    /** Writes the answer to a request that was denied, whose response is not committed. */
    Mono<Void> write(Decision denial, ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        LimitNames names = new LimitNames(config.policies().values(), denial);
        // The backend could not count, and the policy denies then; a call that can never pass is denied in any case.
        boolean outage = denial.source() == Decision.Source.FAILED_CLOSED && !isNever(denial);
        int status = outage ? 503 : 429;
        response.setStatusCode(HttpStatusCode.valueOf(status));
        HttpHeaders headers = response.getHeaders();
        headers.clearContentHeaders();
        fields.of(denial, names).forEach(headers::set);
        headers.set("Cache-Control", "no-store");
        if (!isNever(denial)) {
            headers.set("Retry-After", Long.toString(retryAfterSeconds(denial)));
        }
        if (config.http().exposeHeaders()) {
            headers.add(
                    "Access-Control-Expose-Headers",
                    (fields.names().isEmpty() ? "" : fields.names() + ", ") + "Retry-After");
        }
        byte[] body = problem(status, outage, denial, names.violated(denial)).getBytes(StandardCharsets.US_ASCII);
        headers.set("Content-Type", "application/problem+json");
        headers.setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    /** RFC 9457, of a type of draft-ietf-httpapi-ratelimit-headers-10. Names of policies and limits need no escapes. */
    private static String problem(int status, boolean outage, Decision denial, List<String> violated) {
        long seconds = retryAfterSeconds(denial);
        return "{\"type\":\"https://iana.org/assignments/http-problem-types#"
                + (outage ? "temporary-reduced-capacity" : "quota-exceeded")
                + "\",\"title\":\""
                + (outage ? "Temporary Reduced Capacity" : "Quota Exceeded")
                + "\",\"status\":" + status
                + ",\"detail\":\""
                + (isNever(denial)
                        ? "This request is not allowed, now or later."
                        : "Try again in " + seconds + (seconds == 1 ? " second." : " seconds."))
                + "\",\"violated-policies\":["
                + violated.stream().map(name -> "\"" + name + "\"").collect(Collectors.joining(","))
                + "]}";
    }

    private static long retryAfterSeconds(Decision denial) {
        return Math.max(1, QuotaWindow.seconds(denial.retryAfterMicros()));
    }

    private static boolean isNever(Decision denial) {
        return denial.retryAfterMicros() == LimitOutcome.NEVER;
    }
}
