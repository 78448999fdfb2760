package io.limiter.grpc;

import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder.Choice;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.internal.config.ChargeOptions;
import io.limiter.internal.config.ChargeOptions.RulePlans;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RuleScope;
import io.limiter.internal.config.RuleScope.RequestCondition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an interceptor under one configuration: those that count calls, and those that count the messages of clients.
 *
 * @param users reads a call, with who calls
 */
record CallRules(
        HttpRules calls,
        HttpRules messages,
        GrpcAnswers answers,
        Function<GrpcCall, GrpcRequest> users,
        List<String> findings)
        implements Door.Rules {
    private static final String BY_MESSAGE = "ext:" + GrpcRequest.MESSAGE;
    private static final Set<KeyPart.Kind> MISSING =
            Set.of(KeyPart.Kind.SESSION, KeyPart.Kind.COOKIE, KeyPart.Kind.QUERY);

    /**
     * Those of an interceptor.
     *
     * @param users null if calls have none
     * @param isBeside whether the application has another door, whose rules need not fit here
     * @throws IllegalArgumentException if there is no rule, one does not fit, or a class can't be made
     */
    static CallRules of(
            Limiter limiter,
            LimiterConfig config,
            Choice<GrpcCall, GrpcRejectionHandler> choice,
            @Nullable Function<GrpcCall, GrpcRequest> users,
            boolean isBeside) {
        choice.checkRules(config);
        Set<String> findings = new LinkedHashSet<>();
        for (RuleDefinition rule : config.settings().rules()) {
            String lack = choice.has(rule) ? lack(rule, users != null) : null;
            if (lack != null) {
                findings.add("RL-194 rule '" + rule.name() + "' limits no calls of gRPC: " + lack
                        + "; change it, or leave it to another door with configuredRules(...)");
            }
        }
        String handler = config.settings().http().rejectionHandler();
        if (!isBeside && !findings.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", findings));
        } else if (!isBeside && handler != null) {
            findings.add("RL-144 limiter.http.rejection-handler = " + handler + " answers no calls of gRPC; give a"
                    + " GrpcRejectionHandler to the interceptor, or define it as a bean");
        }
        Predicate<RuleDefinition> fits = rule -> lack(rule, users != null) == null;
        Predicate<RuleDefinition> ours = fits.and(choice::has);
        NamedClasses classes = choice.classes();
        HttpRules calls = choice.only(ours.and(rule -> !isByMessage(rule)), choice.rules())
                .rules(limiter, config, fits, classes);
        HttpRules messages =
                choice.only(ours.and(CallRules::isByMessage), List.of()).rules(limiter, config, fits, classes);
        findings.addAll(calls.findings());
        findings.addAll(messages.findings());
        return new CallRules(
                calls,
                messages,
                new GrpcAnswers(config, choice.handler()),
                users == null ? GrpcRequest::ofNobody : users,
                List.copyOf(findings));
    }

    private static boolean isByMessage(RuleDefinition rule) {
        return rule.scope().methods().contains(BY_MESSAGE);
    }

    /** Whether a rule counts messages. */
    boolean countMessages() {
        return !messages.isIdle() && !messages.configured().isEmpty();
    }

    @Override
    public HttpRules http() {
        return calls;
    }

    @Override
    public List<HttpRules> all() {
        return List.of(calls, messages);
    }

    /** What calls do not have that the rule needs; null if it needs nothing else. */
    private static @Nullable String lack(RuleDefinition rule, boolean haveUsers) {
        RuleScope scope = rule.scope();
        ChargeOptions charging = rule.charging();
        if (rule.parts().anyMatch(part -> MISSING.contains(part.kind()))
                || !scope.query().isEmpty()) {
            return "they have no session, no cookies and no query";
        }
        if (!haveUsers && !rule.isBeforeAuthentication()) {
            return "they have a user only with Builder.user of the interceptor, or with Spring Security";
        }
        if (!isByMessage(rule) && !scope.methods().isEmpty() && !scope.methods().contains(GrpcRequest.POST)) {
            return "they are POST requests; leave methods out, or write " + BY_MESSAGE + " to count each message";
        }
        if (isByMessage(rule)
                && (charging.outcomes() != null
                        || charging.actual() != null
                        || scope.methods().size() > 1
                        || rule.policies().stream().anyMatch(Policy::isInFlight))) {
            return "with " + BY_MESSAGE + " it has no other method, no outcome, no settlement and nothing in flight";
        }
        List<String> names = headers(rule);
        names.removeIf(name -> name.matches("[A-Za-z0-9_.-]+") && !name.endsWith("-bin"));
        return names.isEmpty() ? null : "no text in their metadata is named " + names.get(0);
    }

    /** The headers that the rule reads, of calls and of their answers. */
    private static List<String> headers(RuleDefinition rule) {
        ChargeOptions charging = rule.charging();
        List<String> names = new ArrayList<>();
        rule.parts()
                .filter(part -> part.kind() == KeyPart.Kind.HEADER)
                .flatMap(part -> Stream.ofNullable(part.name()))
                .forEach(names::add);
        rule.scope().headers().stream().map(RequestCondition::name).forEach(names::add);
        Stream.ofNullable(charging.cost().header()).forEach(names::add);
        Stream.ofNullable(charging.plans())
                .filter(plans -> plans.source() == RulePlans.Source.HEADER)
                .forEach(plans -> names.add(plans.name()));
        // They read all of theirs.
        Function<String, Collection<String>> read = name -> {
            names.add(name);
            return List.of();
        };
        if (charging.outcomes() != null) {
            charging.outcomes().keeps(0, read, attribute -> null);
        }
        if (charging.actual() != null) {
            charging.actual().of(read, attribute -> null);
        }
        return names;
    }
}
