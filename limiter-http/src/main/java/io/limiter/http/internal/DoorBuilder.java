package io.limiter.http.internal;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.rule.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the builders of all filters have in common. Not thread-safe.
 *
 * @param <S> the server's own requests
 * @param <H> what answers denied requests
 * @param <B> the builder
 */
public abstract class DoorBuilder<S, H, B extends DoorBuilder<S, H, B>> {
    private final List<Rule<? super S>> rules = new ArrayList<>();
    private @Nullable Predicate<? super RuleDefinition> which;
    private @Nullable H handler;
    private Function<? super Class<?>, ? extends @Nullable Object> instances = type -> null;

    /** All configured rules, and no others. */
    protected DoorBuilder() {}

    /**
     * Adds a rule in code. It selects the policy at each dispatch of a request; of a policy, only its first charge counts. An
     * exception that it throws reaches the server, not the application.
     */
    public B rule(Rule<? super S> rule) {
        rules.add(Objects.requireNonNull(rule, "rule"));
        return self();
    }

    /** Uses only those of the configured rules that are decided before authentication; if there are none, it admits everything. */
    public B rulesBeforeAuthentication() {
        return only(RuleDefinition::isBeforeAuthentication);
    }

    /** Uses only those that are decided after authentication, for a filter behind it; if there are none, it admits everything. */
    public B rulesAfterAuthentication() {
        return only(rule -> !rule.isBeforeAuthentication());
    }

    /** Uses only those whose names the predicate accepts; if there are none, it admits everything. The last choice of rules counts. */
    public B configuredRules(Predicate<? super String> names) {
        return only(rule -> names.test(rule.name()));
    }

    private B only(Predicate<? super RuleDefinition> chosen) {
        this.which = chosen;
        return self();
    }

    /** Answers denied requests; null for the handler that the configuration names, or the standard answer. */
    public B rejectionHandler(@Nullable H handler) {
        this.handler = handler;
        return self();
    }

    /** Returns existing objects of the configuration's classes; null where a new object is to be made. */
    public B instances(Function<? super Class<?>, ? extends @Nullable Object> instances) {
        this.instances = Objects.requireNonNull(instances, "instances");
        return self();
    }

    @SuppressWarnings("unchecked") // B is the class of this
    private B self() {
        return (B) this;
    }

    /**
     * What a filter was built with. Immutable.
     *
     * @param which configured rules it has; null for all
     * @param handler answers denied requests; null for the configured one, or the standard answer
     * @param instances returns existing objects of classes
     */
    public record Choice<S, H>(
            List<Rule<? super S>> rules,
            @Nullable Predicate<? super RuleDefinition> which,
            @Nullable H handler,
            Function<? super Class<?>, ? extends @Nullable Object> instances) {
        /** What is chosen now. Not a method of the builder, which applications call. */
        public static <S, H> Choice<S, H> of(DoorBuilder<S, H, ?> builder) {
            return new Choice<S, H>(
                    List.<Rule<? super S>>copyOf(builder.rules), builder.which, builder.handler, builder.instances);
        }

        /**
         * The rules under a configuration.
         *
         * @param fits whether the requests of the door can meet a rule
         * @throws IllegalArgumentException if there is no rule, and all were chosen, or a class can't be made
         */
        public HttpRules rules(
                Limiter limiter, LimiterConfig config, Predicate<RuleDefinition> fits, NamedClasses classes) {
            checkRules(config);
            List<RuleDefinition> configured =
                    config.settings().rules().stream().filter(this::has).toList();
            return new HttpRules(limiter, config, configured, fits, rules, classes);
        }

        /**
         * Checks that there is something to limit by.
         *
         * @throws IllegalArgumentException if there is no rule, and all were chosen
         */
        public void checkRules(LimiterConfig config) {
            if (config.settings().rules().isEmpty() && rules.isEmpty() && which == null) {
                throw new IllegalArgumentException(HttpRules.NO_RULES);
            }
        }

        /** Whether a configured rule was chosen. */
        public boolean has(RuleDefinition rule) {
            return which == null || which.test(rule);
        }

        /** The same with fewer rules. */
        public Choice<S, H> only(Predicate<? super RuleDefinition> chosen, List<Rule<? super S>> inCode) {
            return new Choice<>(inCode, chosen, handler, instances);
        }

        /** The classes that a configuration names, found as the current thread finds them. */
        public NamedClasses classes() {
            return new NamedClasses(null, instances);
        }
    }
}
