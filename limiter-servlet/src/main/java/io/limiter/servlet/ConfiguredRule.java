package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Rule;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.match.RequestMatcher;
import org.jspecify.annotations.Nullable;

/** A rule of the configuration: by path and method, one permit a request. Immutable. */
final class ConfiguredRule implements Rule<Dispatch> {
    private final RequestMatcher matcher;
    private final RequestKey key;
    private final Policy policy;

    ConfiguredRule(RuleDefinition definition, HttpSettings settings) {
        this.matcher = new RequestMatcher(definition, settings);
        this.key = new RequestKey(definition);
        this.policy = definition.policy();
    }

    @Override
    public @Nullable Charge charge(Dispatch dispatch) {
        RequestMatcher.Match match = matcher.match(dispatch.matchable());
        return match == null ? null : new Charge(policy, key.of(dispatch.request(), match, dispatch::client), 1);
    }
}
