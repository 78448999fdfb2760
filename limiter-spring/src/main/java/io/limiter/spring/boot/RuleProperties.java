package io.limiter.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What stands below {@code limiter.rules.<name>}. Never made: the parser of limiter-core reads the text. It is here
 * for IDEs, which complete what stands below a name by the type that the metadata gives.
 */
final class RuleProperties extends PolicyProperties {
    private @Nullable List<String> path;
    private @Nullable List<String> methods;
    private @Nullable String key;
    private @Nullable String policy;
    private @Nullable Integer ipv6Prefix;

    /** For which paths: {@code /login}, {@code /api/*}, {@code /users/{id}}; every path is {@code /*}. */
    public @Nullable List<String> getPath() {
        return path;
    }

    public void setPath(List<String> path) {
        this.path = path;
    }

    /** For which HTTP methods; all unless set. */
    public @Nullable List<String> getMethods() {
        return methods;
    }

    public void setMethods(List<String> methods) {
        this.methods = methods;
    }

    /** Whose quota: {@code ip} (unless set), {@code user}, {@code session}, {@code header:Name}, {@code cookie:name}, {@code path:variable}, joined by {@code " + "}, or {@code global}. */
    public @Nullable String getKey() {
        return key;
    }

    public void setKey(String key) {
        this.key = key;
    }

    /** The policy that it charges; instead of limits of its own. */
    public @Nullable String getPolicy() {
        return policy;
    }

    public void setPolicy(String policy) {
        this.policy = policy;
    }

    /** The bits of an IPv6 address that tell clients apart; {@code limiter.client-ip.ipv6-prefix} unless set. */
    public @Nullable Integer getIpv6Prefix() {
        return ipv6Prefix;
    }

    public void setIpv6Prefix(Integer ipv6Prefix) {
        this.ipv6Prefix = ipv6Prefix;
    }
}
