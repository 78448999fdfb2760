package io.limiter.grpc;

import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder.Choice;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.internal.config.ChargeOptions;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.RulePlans;
import io.limiter.internal.config.RuleScope;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an interceptor under one configuration: those that count calls, and those that count the messages of clients.
 *
 * @param notLimiting findings about what does not limit calls
 */
record CallRules(HttpRules calls, HttpRules messages, GrpcAnswers answers, Users users, List<String> notLimiting)
        implements Door.Rules {
    private static final String BY_MESSAGE = "ext:" + GrpcRequest.MESSAGE;
    private static final Set<KeyPart.Kind> MISSING =
            Set.of(KeyPart.Kind.SESSION, KeyPart.Kind.COOKIE, KeyPart.Kind.QUERY);

    /**
     * Who calls.
     *
     * @param find the user of a call; null if there are no users
     */
    record Users(@Nullable Function<GrpcCall, @Nullable Principal> find, BiPredicate<Principal, String> roles) {
        GrpcRequest request(GrpcCall call) {
            return new GrpcRequest(call, GrpcRequest.POST, find == null ? null : find.apply(call), roles);
        }
    }

    /**
     * What makes those of an interceptor.
     *
     * @param isBeside whether the application has another door, whose rules need not fit here
     * @throws IllegalArgumentException if there is no rule, one does not fit, or a class can't be made
     */
    static BiFunction<LimiterConfig, @Nullable CallRules, CallRules> maker(
            Limiter limiter, Choice<GrpcCall, GrpcRejectionHandler> choice, Users users, boolean isBeside) {
        return (config, before) -> of(limiter, config, choice, users, isBeside, before);
    }

    private static CallRules of(
            Limiter limiter,
            LimiterConfig config,
            Choice<GrpcCall, GrpcRejectionHandler> choice,
            Users users,
            boolean isBeside,
            @Nullable CallRules before) {
        List<String> unfit = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (RuleDefinition rule : config.settings().rules()) {
            String lack = choice.has(rule) ? lack(rule, users.find != null) : null;
            if (lack != null) {
                left.add(rule.name());
                unfit.add("RL-194 rule '" + rule.name() + "' limits no calls of gRPC: " + lack
                        + "; change it, or leave it to another door with configuredRules(...)");
            }
        }
        if (!unfit.isEmpty() && !isBeside) {
            throw new IllegalArgumentException(String.join("\n", unfit));
        }
        String handler = config.settings().http().rejectionHandler();
        if (handler != null && !isBeside) {
            unfit.add("RL-144 limiter.http.rejection-handler = " + handler + " answers no calls of gRPC; give a"
                    + " GrpcRejectionHandler to the interceptor, or define it as a bean");
        }
        if (choice.which() == null
                && choice.rules().isEmpty()
                && config.settings().rules().isEmpty()) {
            throw new IllegalArgumentException(HttpRules.NO_RULES);
        }
        Predicate<RuleDefinition> fits = rule -> choice.has(rule) && !left.contains(rule.name());
        Predicate<RuleDefinition> ofMessages = rule -> rule.scope().methods().contains(BY_MESSAGE);
        NamedClasses classes = choice.classes(GrpcCall.class);
        return new CallRules(
                choice.only(fits.and(ofMessages.negate()), choice.rules())
                        .rules(limiter, config, classes, GrpcCall.class, before == null ? null : before.calls),
                choice.only(fits.and(ofMessages), List.of())
                        .rules(limiter, config, classes, GrpcCall.class, before == null ? null : before.messages),
                new GrpcAnswers(config, choice.handler()),
                users,
                unfit);
    }

    /** Whether no call is limited or denied. */
    boolean isIdle() {
        return calls.isIdle() && messages.isIdle();
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

    @Override
    public List<String> findings() {
        return Stream.of(notLimiting, calls.findings(), messages.findings())
                .flatMap(List::stream)
                .distinct()
                .toList();
    }

    /** What calls do not have that the rule needs; null if it needs nothing else. */
    private static @Nullable String lack(RuleDefinition rule, boolean haveUsers) {
        RuleScope scope = rule.scope();
        ChargeOptions charging = rule.charging();
        List<KeyPart> parts =
                Stream.of(rule.key(), charging.member()).flatMap(List::stream).toList();
        for (KeyPart part : parts) {
            if (MISSING.contains(part.kind())) {
                return "they have no " + part.kind().text();
            }
        }
        if (!haveUsers && !rule.isBeforeAuthentication()) {
            return "they have a user only with Builder.user of the interceptor, or with Spring Security";
        }
        if (!scope.query().isEmpty()) {
            return "they have no query";
        }
        boolean isByMessage = scope.methods().contains(BY_MESSAGE);
        if (!scope.methods().isEmpty() && !scope.methods().contains(GrpcRequest.POST) && !isByMessage) {
            return "they are POST requests; leave methods out, or write " + BY_MESSAGE + " to count each message";
        }
        if (isByMessage
                && (charging.outcomes() != null
                        || charging.actual() != null
                        || scope.methods().size() > 1
                        || rule.policies().stream().anyMatch(Policy::isInFlight))) {
            return "with " + BY_MESSAGE + " it has no other method, no outcome, no settlement and nothing in flight";
        }
        List<String> names = new ArrayList<>();
        parts.stream()
                .filter(part -> part.kind() == KeyPart.Kind.HEADER)
                .flatMap(part -> Stream.ofNullable(part.name()))
                .forEach(names::add);
        scope.headers().forEach(header -> names.add(header.name()));
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
        return names.stream()
                .filter(name -> !isText(name))
                .findFirst()
                .map(name -> "no text in their metadata is named " + name)
                .orElse(null);
    }

    private static boolean isText(String name) {
        try {
            GrpcRequest.key(name);
            return true;
        } catch (IllegalArgumentException unfit) {
            return false;
        }
    }
}
