package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import java.io.IOException;
import java.time.Duration;
import java.time.ZonedDateTime;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.client.HttpClientErrorException;

public class PartnerBudget implements ClientHttpRequestInterceptor {
    private static final PartitionKey SHARED = PartitionKey.global();

    private final Limiter limiter;
    private final Duration longestWait;

    /** A call waits that long for the budget, and not at all for a pause. */
    public PartnerBudget(Limiter limiter, Duration longestWait) {
        this.limiter = limiter;
        this.longestWait = longestWait;
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        PermitRequest call = PermitRequest.of(limiter.policy("partner"), SHARED, 1);
        Decision taken = limiter.rateLimiter()
                .acquireAsync(call.withMaxWait(longestWait))
                .join();
        if (!taken.allowed()) {
            throw notSent(taken);
        }
        // Asks for all permits and takes none: denied while one is held.
        Policy pause = limiter.policy("partner-pause");
        PermitRequest all = PermitRequest.of(pause, SHARED, pause.holds()).withCheck();
        Decision goesOn = limiter.rateLimiter().tryAcquire(all);
        if (!goesOn.allowed()) {
            limiter.rateLimiter().refund(taken);
            throw notSent(goesOn);
        }
        ClientHttpResponse response = execution.execute(request, body);
        if (response.getStatusCode().isSameCodeAs(HttpStatus.TOO_MANY_REQUESTS)) {
            // Holds one permit for that time. Nobody settles it, so it comes back by itself.
            limiter.rateLimiter().reserve(pause, SHARED, 1, retryAfter(response.getHeaders()));
        }
        return response;
    }

    /** The same exception as if the API had answered 429. */
    private static HttpClientErrorException notSent(Decision decision) {
        HttpHeaders headers = new HttpHeaders();
        decision.retryAfter()
                .ifPresent(wait -> headers.set(HttpHeaders.RETRY_AFTER, Long.toString(wait.toSeconds() + 1)));
        return HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "not sent", headers, new byte[0], null);
    }

    /** Seconds or a date; from a second, also if it is missing or can't be read, to a day. */
    private static Duration retryAfter(HttpHeaders headers) {
        String text = headers.getFirst(HttpHeaders.RETRY_AFTER);
        long seconds = 1;
        try {
            if (text != null) {
                seconds = text.matches("[0-9]{1,9}")
                        ? Long.parseLong(text)
                        : Duration.between(ZonedDateTime.now(), headers.getFirstZonedDateTime(HttpHeaders.RETRY_AFTER))
                                        .toSeconds()
                                + 1;
            }
        } catch (IllegalArgumentException unreadable) {
            // A second.
        }
        return Duration.ofSeconds(Math.min(Math.max(1, seconds), 86_400));
    }
}
