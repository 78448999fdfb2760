package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import java.io.IOException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.client.HttpClientErrorException;

public class PartnerBudget implements ClientHttpRequestInterceptor {
    private static final PartitionKey SHARED = PartitionKey.global();
    private static final long DAY = 86_400;

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
        decision.retryAfterSeconds().ifPresent(seconds -> headers.set(HttpHeaders.RETRY_AFTER, Long.toString(seconds)));
        return HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "not sent", headers, new byte[0], null);
    }

    /** From a second, also if it is missing or can't be read, to a day; of several the longest. */
    private static Duration retryAfter(HttpHeaders headers) {
        long seconds = headers.getOrEmpty(HttpHeaders.RETRY_AFTER).stream()
                .flatMapToLong(PartnerBudget::seconds)
                .max()
                .orElse(1);
        return Duration.ofSeconds(Math.min(Math.max(1, seconds), DAY));
    }

    /** Of a date, of seconds, or of several with commas between them. */
    private static LongStream seconds(String line) {
        try {
            ZonedDateTime date = ZonedDateTime.parse(line, DateTimeFormatter.RFC_1123_DATE_TIME);
            return LongStream.of(Duration.between(ZonedDateTime.now(), date).toSeconds() + 1);
        } catch (DateTimeParseException noDate) {
            return Stream.of(line.split(","))
                    .map(String::strip)
                    .filter(text -> text.matches("[0-9]+"))
                    // More digits than a day has.
                    .mapToLong(text -> text.length() > 9 ? DAY : Long.parseLong(text));
        }
    }
}
