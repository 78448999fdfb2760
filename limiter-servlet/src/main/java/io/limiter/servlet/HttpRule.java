package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Policy;
import io.limiter.config.HttpSettings;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Rule;
import io.limiter.servlet.address.ClientAddressResolver;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A configured rule for requests: by path and method, one permit a request. Immutable. */
final class HttpRule implements Rule<Visit> {
    private final PathPattern[] patterns;
    private final Set<String> methods;
    private final HttpKey key;
    private final Policy policy;

    HttpRule(RuleDefinition definition, HttpSettings settings, ClientAddressResolver clients) {
        this.patterns = definition.paths().stream()
                .map(path -> PathPattern.of(path, settings))
                .toArray(PathPattern[]::new);
        this.methods = definition.methods();
        this.key = new HttpKey(definition.key(), clients, definition.ipv6PrefixBits());
        this.policy = definition.policy();
    }

    @Override
    public @Nullable Charge charge(Visit visit) {
        if (!isForMethod(visit)) {
            return null;
        }
        for (String path : visit.paths()) {
            for (PathPattern pattern : patterns) {
                if (pattern.matches(path)) {
                    // Once, also when the key is another one by now, because somebody has logged in within the request.
                    return visit.charged().isFirst(this) ? new Charge(policy, key.of(visit, path, pattern), 1) : null;
                }
            }
        }
        return null;
    }

    private boolean isForMethod(Visit visit) {
        String method = visit.method();
        if (methods.contains(method)) {
            return true;
        }
        return methods.isEmpty()
                ? !visit.isPreflight()
                : (method.equals("HEAD") && methods.contains("GET")) || visit.claims(methods);
    }
}
