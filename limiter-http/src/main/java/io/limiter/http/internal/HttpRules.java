package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.address.IpNetwork;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.address.AddressResolver;
import io.limiter.http.internal.match.MatchableRequest;
import io.limiter.http.internal.match.RequestMatcher;
import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.ClientIpSettings;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleDefinition.Mode;
import io.limiter.internal.config.Settings;
import io.limiter.internal.rule.ShadowCounter;
import io.limiter.rule.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rules of one door, such as a filter, under one configuration: which ones count a request, and what they charge it.
 * Each request that begins while they are in force is theirs. Thread-safe.
 */
public final class HttpRules {
    private static final Logger LOG = LoggerFactory.getLogger(HttpRules.class);

    /** A configuration without rules. */
    public static final String NO_RULES = "RL-109 the configuration has no rule, so nothing would be limited; add"
            + " limiter.rules.all.path = /* and limiter.rules.all.limits = 100/1m";

    /** The name of the attribute of a request with the last decision about it. */
    public static final String DECISION = "io.limiter.decision";

    private final RateLimiter limiter;
    private final LimiterConfig config;
    private final List<RuleDefinition> configured;
    private final boolean isIdle;
    private final List<IpNetwork> deniedNetworks;
    private final List<ConfiguredRule> enabled;
    private final List<? extends Rule<?>> own;
    private final Function<MatchableRequest, int[]> candidates;
    private final RuleUses uses;
    private final boolean hasEnd;
    private final boolean mayWait;
    private final ShadowCounter shadowCounter;
    private final AddressResolver addresses;
    private final RuleRequest.Reader reader;
    /** For samples, which must not cause a warning about addresses. */
    private final RuleRequest.Reader silentReader;

    /**
     * The rules of a configuration.
     *
     * @param source whose configuration it is, also after it is replaced
     * @param configured those of its rules that this door has
     * @param fits whether the requests of this door can meet a rule of the configuration
     * @param own rules of the application in code, for the server's own requests
     * @param classes provides the objects of classes that it names
     */
    public HttpRules(
            Limiter source,
            LimiterConfig config,
            List<RuleDefinition> configured,
            Predicate<RuleDefinition> fits,
            List<? extends Rule<?>> own,
            NamedClasses classes) {
        this.limiter = source.rateLimiter();
        this.config = config;
        Settings settings = config.settings();
        this.configured = configured;
        this.own = own;
        this.deniedNetworks = settings.callers().denied();
        // Also those of other doors of the limiter: one of them may run inside this one, which sees the end of the
        // request.
        this.hasEnd = settings.rules().stream()
                .anyMatch(rule -> rule.charging().outcomes() != null
                        || rule.charging().actual() != null
                        || rule.policies().stream().anyMatch(Policy::isInFlight));
        this.mayWait = !waiting().isEmpty();
        this.shadowCounter = new ShadowCounter(limiter);
        Predicate<RuleRequest> isCovered = ConfiguredRule.covering(settings, configured, fits);
        this.enabled = configured.stream()
                .filter(rule -> rule.mode() != Mode.OFF)
                .map(rule -> new ConfiguredRule(source, rule, settings, classes, isCovered, shadowCounter))
                .toList();
        this.uses = new RuleUses(enabled.stream().map(rule -> rule.use).toList(), TimeSource.system());
        this.isIdle = !settings.enabled() || (enabled.isEmpty() && own.isEmpty() && deniedNetworks.isEmpty());
        this.candidates = RequestMatcher.candidates(
                enabled.stream().map(rule -> rule.matcher).toList(), own.size());
        // If no client address is needed, warnings about it are not needed either.
        this.addresses = AddressResolver.of(
                configured.isEmpty() && deniedNetworks.isEmpty() ? ClientIpSettings.DEFAULT : settings.clientIp());
        MethodOverride override = settings.http().methodOverride();
        CallerMatcher exempt = RuleRequest.orNull(settings.callers().exempt());
        this.reader = new RuleRequest.Reader(addresses, override, exempt);
        this.silentReader = new RuleRequest.Reader(addresses.silent(), override, exempt);
    }

    /** The configuration. */
    public LimiterConfig config() {
        return config;
    }

    /** The configured rules, with those that are off. */
    public List<RuleDefinition> configured() {
        return configured;
    }

    /** The limiter to ask. */
    public RateLimiter limiter() {
        return limiter;
    }

    /** Whether a rule may give back, settle or end what it has charged, so that the ledger of a request needs its end. */
    public boolean hasEnd() {
        return hasEnd;
    }

    /** What operators should know of the rules, as sentences for {@link #log}; the list is the caller's. */
    public List<String> findings() {
        List<String> all = new ArrayList<>(addresses.findings());
        for (RuleDefinition rule : configured) {
            if (rule.mode() != Mode.OFF) {
                RulePolicy.addFindings(rule, all);
                RuleCost.addFindings(rule, all);
            }
        }
        return all;
    }

    /** The names of the rules that let requests wait for permits. */
    public List<String> waiting() {
        return configured.stream()
                .filter(rule -> rule.mode() == Mode.ENFORCED
                        && !rule.charging().maxWait().isZero())
                .map(RuleDefinition::name)
                .toList();
    }

    /** Logs a finding. */
    public static void log(String finding) {
        LOG.warn(finding);
    }

    /** Whether no request is limited or denied. */
    public boolean isIdle() {
        return isIdle;
    }

    /** A dispatch as the rules read it. */
    RuleRequest read(Request request) {
        return new RuleRequest(request, request instanceof SampleRequest ? silentReader : reader);
    }

    /** Whether the caller is denied, before anything is counted. */
    boolean denies(RuleRequest request) {
        return !deniedNetworks.isEmpty() && request.isDeniedBy(deniedNetworks);
    }

    /** The charges of a dispatch that no rule has counted yet. */
    DispatchCharges noCharges() {
        return new DispatchCharges(hasEnd, mayWait);
    }

    /** The numbers of the rules that may count a dispatch, in their order: those of the configuration, then those in code. */
    int[] candidates(RuleRequest request) {
        return candidates.apply(request);
    }

    /** What the rule of this number charges a dispatch; null if it does not count it. Nothing is recorded or taken. */
    @Nullable
    RuleCharge charge(int rule, RuleRequest request) {
        return rule < enabled.size()
                ? enabled.get(rule).charge(request)
                : ofCode(own.get(rule - enabled.size()), request);
    }

    @SuppressWarnings("unchecked") // The door passes rules for its own type of request.
    private static @Nullable RuleCharge ofCode(Rule<?> rule, RuleRequest request) {
        Charge charge = ((Rule<Object>) rule).charge(request.request().server());
        return charge == null
                ? null
                : new RuleCharge(
                        RuleCharge.Terms.ofCode(List.of(rule, charge.policy().name())), charge, null);
    }

    /** Whether the application has rules in code. */
    boolean hasRulesInCode() {
        return !own.isEmpty();
    }

    /** The rule that was made of a definition; null if it is off. */
    @Nullable
    ConfiguredRule rule(RuleDefinition definition) {
        return enabled.stream()
                .filter(one -> one.use.rule == definition)
                .findFirst()
                .orElse(null);
    }

    /** Whether something before the door replaces the addresses of clients. */
    boolean replacesAddresses() {
        return addresses.isReplaced();
    }

    /** Counts the shadow charges of an admitted request; returns what was taken, to be ended with it. */
    List<CompletableFuture<Decision>> countShadows(List<Charge> charges) {
        return shadowCounter.count(charges, "a request");
    }

    /** Notes that a request has reached the door. */
    public void noteRequest() {
        uses.noteRequest();
    }

    /** By the name of each rule that has counted no request, why. */
    public Map<String, String> unusedRules() {
        return uses.unused();
    }

    /** Begins with what was seen of the rules that are the same in an earlier configuration. */
    void continueFrom(HttpRules earlier) {
        uses.continueFrom(earlier.uses);
    }
}
