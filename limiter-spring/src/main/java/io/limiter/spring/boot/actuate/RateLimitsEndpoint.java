package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.KeyHash;
import io.limiter.LimitOutcome;
import io.limiter.Limiter;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.KeyForm;
import io.limiter.servlet.key.RuleKeyForm;
import io.limiter.spring.call.AnnotatedPolicy;
import io.limiter.spring.proxy.RateLimitedPostProcessor;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * The endpoint {@code ratelimits}: what is limited and how it has gone; what one key has left, without taking any of it; a key
 * that gets its whole quota again; and the configuration, read again. Keys are never listed. Over HTTP: 404 for a policy that is not there, 400 for a text that is no
 * key, 503 where Redis did not answer and nobody knows. Thread-safe.
 */
@WebEndpoint(id = "ratelimits")
public class RateLimitsEndpoint {
    private final Limiter limiter;
    private final ObjectProvider<RateLimitedPostProcessor> annotations;

    /** Of a limiter, and of what annotations say besides. */
    RateLimitsEndpoint(Limiter limiter, ObjectProvider<RateLimitedPostProcessor> annotations) {
        this.limiter = limiter;
        this.annotations = annotations;
    }

    /** What is limited, and how it has gone since the start. */
    @ReadOperation
    public RateLimitsReport ratelimits() {
        return RateLimitsReport.of(limiter, annotated().toList());
    }

    /**
     * {@code GET /actuator/ratelimits/{policy}?key=...}: what a key has used of a policy. It takes nothing, and waits for Redis no longer
     * than a call does.
     *
     * @param key a client's address, or a key as it stands in the names of states in Redis; secrets in it may be in clear
     */
    // A key may be left out, and is asked for then: of the two marks for that Spring Boot 3 reads the first, and 4 the
    // second.
    @ReadOperation
    public WebEndpointResponse<Object> peek(
            @Selector String policy, @org.springframework.lang.Nullable @Nullable String key) {
        return answer(policy, key, (known, whose) -> {
            PartitionKey before = whose.previous();
            KeyReport previous = before == null ? null : look(known, before, null);
            KeyReport report = look(known, whose.present(), previous);
            return new WebEndpointResponse<>(report, report.limits().isEmpty() ? 503 : 200);
        });
    }

    private KeyReport look(Policy policy, PartitionKey key, @Nullable KeyReport previous) {
        RateLimiter rateLimiter = limiter.rateLimiter();
        // Two looks at once: what is there, and what a call would be told.
        CompletableFuture<Decision> state =
                rateLimiter.peekAsync(List.of(new Charge(policy, key, 0))).toCompletableFuture();
        CompletableFuture<Decision> call =
                rateLimiter.peekAsync(List.of(new Charge(policy, key, 1))).toCompletableFuture();
        return report(policy, key, state.join(), call.join(), previous);
    }

    /** {@code DELETE /actuator/ratelimits/{policy}?key=...}: gives a key its whole quota of a policy again. */
    @DeleteOperation
    public WebEndpointResponse<Object> reset(
            @Selector String policy, @org.springframework.lang.Nullable @Nullable String key) {
        return answer(policy, key, (known, whose) -> {
            PartitionKey present = whose.present();
            PartitionKey previous = whose.previous();
            limiter.rateLimiter().reset(known, present);
            if (previous != null) {
                limiter.rateLimiter().reset(known, previous);
            }
            return new WebEndpointResponse<>(new KeyReport.Reset(
                    known.name(), present.canonical(), KeyText.parts(present), form(known, present)));
        });
    }

    /**
     * {@code POST /actuator/ratelimits}: reads the configuration again, see {@link Limiter#reload}. 200 and what differs, or 409 and
     * all mistakes.
     */
    @WriteOperation
    public WebEndpointResponse<Object> reload() {
        try {
            return new WebEndpointResponse<>(Map.of("changes", limiter.reload()));
        } catch (IllegalStateException refused) {
            return failure(409, refused.getMessage());
        }
    }

    /**
     * Whose quota an operator means.
     *
     * @param previous its key with the secret before; null where that is the same or there was none
     */
    private record Whose(PartitionKey present, @Nullable PartitionKey previous) {}

    private WebEndpointResponse<Object> answer(
            String policy, @Nullable String key, BiFunction<Policy, Whose, WebEndpointResponse<Object>> ask) {
        Policy known = limiter.policies().get(policy);
        if (known == null) {
            return failure(
                    404,
                    "there is no policy '" + policy + "'; there are "
                            + limiter.policies().keySet() + " (of a policy that only code makes, ask the code)");
        }
        if (key == null) {
            return failure(400, "whose quota is missing; add ?key=192.0.2.1 or another key");
        }
        try {
            return ask.apply(known, read(known, key));
        } catch (IllegalArgumentException noKey) {
            return failure(400, noKey.getMessage());
        } catch (BackendException away) {
            return failure(503, away.getMessage());
        }
    }

    private static WebEndpointResponse<Object> failure(int status, @Nullable String error) {
        return new WebEndpointResponse<>(new KeyReport.Failure(String.valueOf(error)), status);
    }

    /** What the annotations say, as far as their beans exist. */
    private Stream<AnnotatedPolicy> annotated() {
        return annotations.stream().flatMap(one -> one.policies().stream());
    }

    private Whose read(Policy policy, String key) {
        KeyHash before = limiter.config().redis().previousKeyHash();
        for (KeyForm form : forms(policy)) {
            PartitionKey present = form.read(key.strip(), limiter.keyHash());
            if (present != null) {
                PartitionKey previous = before == null ? null : form.read(key.strip(), before);
                return new Whose(present, present.equals(previous) ? null : previous);
            }
        }
        // Where the rules of one policy differ, a prefix that is written says which is meant.
        int bits = rulesOf(policy)
                .map(RuleDefinition::ipv6PrefixBits)
                .findFirst()
                .orElse(limiter.config().clientIp().ipv6PrefixBits());
        return new Whose(new KeyText(policy.name(), bits).read(key), null);
    }

    private KeyReport report(
            Policy policy, PartitionKey key, Decision state, Decision call, @Nullable KeyReport previous) {
        List<KeyReport.LimitState> limits = new ArrayList<>();
        // A backend may have gone between the two looks; then there are no numbers that belong together.
        boolean whole = state.source() == call.source()
                && state.outcomes().size() == call.outcomes().size();
        for (int i = 0; whole && i < state.outcomes().size(); i++) {
            LimitOutcome now = state.outcomes().get(i);
            limits.add(new KeyReport.LimitState(
                    Objects.requireNonNull(now.limit().name()),
                    now.limit().toString(),
                    now.remaining(),
                    duration(call.outcomes().get(i).retryAfterMicros()),
                    duration(now.nextMicros()),
                    duration(now.resetMicros())));
        }
        return new KeyReport(
                policy.name(),
                key.canonical(),
                KeyText.parts(key),
                RateLimitsReport.text(call.source()),
                call.allowed(),
                duration(call.retryAfterMicros()),
                limits,
                whole && call.source().isExact() ? form(policy, key) : note(call.source()),
                previous);
    }

    /**
     * The note about a key that no rule and no annotation makes for the policy; null when one does, or that is not known. Such a key
     * has its whole quota, since no client has it, and an operator must not take that for the quota of a client.
     */
    private @Nullable String form(Policy policy, PartitionKey key) {
        String name = policy.name();
        List<KeyForm> forms = forms(policy);
        return forms.isEmpty() || forms.stream().anyMatch(form -> form.fits(key))
                ? null
                : "no rule and no annotation makes such a key for '" + name + "'; theirs look like "
                        + forms.stream()
                                .map(KeyForm::toString)
                                .distinct()
                                .sorted()
                                .collect(Collectors.joining(" or "));
    }

    private List<KeyForm> forms(Policy policy) {
        return Stream.concat(
                        rulesOf(policy).map(RuleKeyForm::of),
                        annotated()
                                .filter(one -> one.policy().name().equals(policy.name()))
                                .map(AnnotatedPolicy::keyForm))
                .toList();
    }

    private Stream<RuleDefinition> rulesOf(Policy policy) {
        return limiter.config().rules().stream()
                .filter(rule ->
                        rule.policies().stream().anyMatch(one -> one.name().equals(policy.name())));
    }

    private String note(Decision.Source source) {
        BackendHealth health = limiter.rateLimiter().health();
        String why =
                health.findings().isEmpty() ? "Redis did not answer in time" : String.join("; ", health.findings());
        return source == Decision.Source.LOCAL_FALLBACK
                ? why + "; these are the numbers of this instance's share"
                : why + "; nobody knows what the key has used";
    }

    /** As ISO 8601 writes it. */
    private static String duration(long micros) {
        return micros == LimitOutcome.NEVER
                ? "never"
                : Duration.of(micros, ChronoUnit.MICROS).toString();
    }
}
