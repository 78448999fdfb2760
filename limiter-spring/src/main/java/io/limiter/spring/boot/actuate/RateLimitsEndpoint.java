package io.limiter.spring.boot.actuate;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.application.Limiter;
import io.limiter.http.ClientAddress;
import io.limiter.http.RequestSample.Explanation.ChargeReport;
import io.limiter.http.RequestSample.Explanation.LimitReport;
import io.limiter.http.internal.Explainer;
import io.limiter.http.internal.RequestKey;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.rule.KeyForm;
import io.limiter.spring.boot.internal.RequestExplainer;
import io.limiter.spring.internal.AnnotatedPolicy;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * The endpoint {@code ratelimits}: shows what is limited and the decisions so far; shows what one key has left, without
 * taking any of it; lists the keys that are denied most; and, only where {@code management.endpoint.ratelimits.access =
 * unrestricted}, resets a key and reloads the configuration: who may look does not get quota back. Over HTTP: 404 for an
 * unknown policy, 400 for a text that is not a key, 503 if Redis did not answer and the state is unknown. Thread-safe.
 */
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
@WebEndpoint(id = "ratelimits", defaultAccess = Access.READ_ONLY)
record RateLimitsEndpoint(
        Limiter limiter,
        ObjectProvider<RateLimitedPostProcessor> annotations,
        ObjectProvider<RequestExplainer> explainer) {
    private static final String DENIED = "denied";
    private static final int KEYS_SHOWN = 20;

    /** What is limited, and the decisions since startup. */
    @ReadOperation
    public Map<String, Object> ratelimits() {
        RequestExplainer filters = explainer.getIfAvailable();
        return Reports.overview(limiter, annotated().toList(), filters == null ? Map.of() : filters.unusedRules());
    }

    /**
     * {@code GET /actuator/ratelimits/{policy}?key=...}: what a key has used of a policy; with {@code &member=...}, if the
     * policy counts members, the answer for that one. Takes nothing, and waits for
     * Redis no longer than a call does. {@code GET /actuator/ratelimits/denied}: the keys that this instance denied
     * most; without a key, so that a policy
     * may have that name.
     *
     * @param key a client's address, or a key as in the names of states in Redis; secrets in it may be in clear
     * @param member as an explanation shows it; the missing one if it is omitted
     * @param most how many denied keys at most; 20 if it is omitted
     */
    // A key may be omitted, which is then reported: Spring Boot 3 reads the first of the two annotations, and 4 the
    // second.
    @ReadOperation
    public WebEndpointResponse<Object> peek(
            @Selector String policy,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable String member,
            @org.springframework.lang.Nullable @Nullable Integer most) {
        if (key == null && policy.equals(DENIED)) {
            int shown = most == null ? KEYS_SHOWN : Math.max(0, most);
            return new WebEndpointResponse<>(
                    Reports.denied(limiter.rateLimiter().monitor(), shown));
        }
        return answer(policy, key, member, false);
    }

    private ChargeReport look(Policy policy, PartitionKey key, @Nullable PartitionKey member) {
        Charge one = new Charge(policy, key, 1, null, member);
        // Two peeks at the same time: the state, and the answer to a call.
        CompletableFuture<Decision> peeked = peek(new Charge(policy, key, 0));
        CompletableFuture<Decision> called = peek(one);
        Decision state = peeked.join();
        Decision call = called.join();
        // The backend may have become unreachable between the two peeks; then the numbers do not fit together.
        boolean whole = state.source() == call.source()
                && state.outcomes().size() == call.outcomes().size();
        List<LimitReport> limits = IntStream.range(0, whole ? state.outcomes().size() : 0)
                .mapToObj(i ->
                        Explainer.limit(state.outcomes().get(i), call.outcomes().get(i)))
                .toList();
        String note = whole && call.source().isExact() ? form(policy, key) : note(call.source());
        return Explainer.charge(one, null, call, limits, note);
    }

    private CompletableFuture<Decision> peek(Charge charge) {
        return limiter.rateLimiter()
                .acquireAsync(PermitRequest.of(List.of(charge)).withLook())
                .toCompletableFuture();
    }

    /** {@code DELETE /actuator/ratelimits/{policy}?key=...}: resets what a key has used of a policy, and shows it. */
    @DeleteOperation
    public WebEndpointResponse<Object> reset(
            @Selector String policy, @org.springframework.lang.Nullable @Nullable String key) {
        return answer(policy, key, null, true);
    }

    /**
     * {@code POST /actuator/ratelimits}: reads the configuration again, see {@link Limiter#reload}. 200 and the
     * differences, or 409 and all mistakes.
     */
    @WriteOperation
    public WebEndpointResponse<Object> reload() {
        try {
            return new WebEndpointResponse<>(Map.of("changes", limiter.reload()));
        } catch (IllegalStateException refused) {
            return failure(409, refused.getMessage());
        }
    }

    private WebEndpointResponse<Object> answer(
            String policy, @Nullable String key, @Nullable String member, boolean resets) {
        Policy known = limiter.policies().get(policy);
        if (known == null) {
            return failure(
                    404,
                    "there is no policy '" + policy + "'; there are "
                            + limiter.policies().keySet() + " (policies made only in code are not listed)");
        }
        if (key == null) {
            return failure(400, "the key is missing; add ?key=192.0.2.1 or another key");
        }
        try {
            PartitionKey meant = read(known, key);
            PartitionKey one = member == null || member.isEmpty() ? null : PartitionKey.parse(member.strip());
            if (resets) {
                limiter.rateLimiter().reset(known, meant);
            }
            ChargeReport report = look(known, meant, one);
            boolean isKnown = !report.limits().isEmpty() || report.source().equals("overridden");
            return new WebEndpointResponse<>(report, isKnown ? 200 : 503);
        } catch (IllegalArgumentException noKey) {
            return failure(400, noKey.getMessage());
        } catch (BackendException away) {
            return failure(503, away.getMessage());
        }
    }

    static WebEndpointResponse<Object> failure(int status, @Nullable String error) {
        return new WebEndpointResponse<>(Map.of("error", String.valueOf(error)), status);
    }

    /** The policies of annotations, as far as their beans exist. */
    private Stream<AnnotatedPolicy> annotated() {
        return annotations.stream().flatMap(one -> one.policies().stream());
    }

    /** The key that an operator means. */
    private PartitionKey read(Policy policy, String key) {
        for (KeyForm form : forms(policy)) {
            PartitionKey present = form.read(key.strip(), limiter.keyHash());
            if (present != null) {
                return present;
            }
        }
        // If the rules of one policy differ, a prefix in the text selects the right one.
        int bits = rulesOf(policy)
                .map(RuleDefinition::ipv6PrefixBits)
                .findFirst()
                .orElse(limiter.config().settings().clientIp().ipv6PrefixBits());
        return key(key.strip(), bits);
    }

    /**
     * The key that an operator enters: a client's address, or a key as in the names of states in Redis. Other text is refused, never
     * guessed.
     *
     * @param ipv6PrefixBits how many bits of an IPv6 address identify a client in the policy's rules
     * @throws IllegalArgumentException if it is not one; the message contains what to write
     */
    static PartitionKey key(String text, int ipv6PrefixBits) {
        try {
            // IPv6 has colons, which separate the parts of a key, and a network has a slash, which is encoded in a key.
            IpAddress address = IpAddress.parse(text);
            if (address != null) {
                Optional<IpAddress> known = Optional.of(address.unmapped().untranslated());
                return PartitionKey.of(
                        new ClientAddress(known, ClientAddress.Origin.NONE, false, ipv6PrefixBits).text());
            }
            return text.indexOf('/') < 0
                    ? PartitionKey.parse(text)
                    : PartitionKey.of(IpNetwork.parse(text).withoutHostBits().toString());
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    wrong.getMessage() + "; write a client's address, or the key as it is in Redis after the"
                            + " policy's name, and in a URL each % of it as %25 (curl -G --data-urlencode 'key=...')",
                    wrong);
        }
    }

    /**
     * The note about a key that no rule and no annotation makes for the policy; null if one does, or if it is unknown.
     * Such a key has its full quota, because no client uses it, and an operator must not mistake that for the quota of
     * a client.
     */
    private @Nullable String form(Policy policy, PartitionKey key) {
        List<KeyForm> forms = forms(policy);
        if (forms.isEmpty() || forms.stream().anyMatch(form -> form.fits(key))) {
            return null;
        }
        Stream<String> texts = forms.stream().map(KeyForm::toString).distinct().sorted();
        return "no rule and no annotation makes such a key for '" + policy.name() + "'; theirs look like "
                + texts.collect(Collectors.joining(" or "));
    }

    private List<KeyForm> forms(Policy policy) {
        return Stream.concat(
                        rulesOf(policy).map(RequestKey::formOf),
                        annotated()
                                .filter(one -> one.policy().name().equals(policy.name()))
                                .map(AnnotatedPolicy::keyForm))
                .toList();
    }

    private Stream<RuleDefinition> rulesOf(Policy policy) {
        return limiter.config().settings().rules().stream()
                .filter(rule ->
                        rule.policies().stream().anyMatch(one -> one.name().equals(policy.name())));
    }

    private String note(Decision.Source source) {
        Backend.Health health = limiter.rateLimiter().monitor().health();
        String why =
                health.findings().isEmpty() ? "Redis did not answer in time" : String.join("; ", health.findings());
        return switch (source) {
            case OVERRIDDEN -> "an operator's override or switch decides; RL-509";
            case LOCAL_FALLBACK -> why + "; these are the numbers of this instance's share";
            default -> why + "; it is unknown what the key has used";
        };
    }
}
