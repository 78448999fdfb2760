package io.limiter.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All keys there are. */
final class Keys {
    static final String ROOT = "limiter.";
    static final String POLICIES = "limiter.policies.";
    static final String RULES = "limiter.rules.";

    static final String REDIS = "limiter.redis.";
    static final String HTTP = "limiter.http.";
    static final String CLIENT_IP = "limiter.client-ip.";
    static final String IN_PROCESS = "limiter.in-process.";

    static final String BACKEND = "limiter.backend";
    static final String INSTANCES = "limiter.instances";
    static final String REDIS_ADDRESS = "limiter.redis.address";
    static final String REDIS_MODE = "limiter.redis.mode";
    static final String REDIS_MASTER = "limiter.redis.master";
    static final String REDIS_CONFIG = "limiter.redis.config";
    static final String REDIS_USERNAME = "limiter.redis.username";
    static final String REDIS_PASSWORD = "limiter.redis.password";
    static final String REDIS_PREFIX = "limiter.redis.prefix";
    static final String REDIS_DEADLINE = "limiter.redis.deadline";
    static final String REDIS_STARTUP_WAIT = "limiter.redis.startup-wait";
    static final String MAX_ENTRIES = "limiter.in-process.max-entries";
    static final String MAX_STAMPS = "limiter.in-process.max-stamps";
    static final String HTTP_HEADERS = "limiter.http.headers";
    static final String HTTP_X_RATELIMIT_RESET = "limiter.http.x-ratelimit-reset";
    static final String HTTP_EXPOSE_HEADERS = "limiter.http.expose-headers";
    static final String HTTP_IGNORE_CASE = "limiter.http.ignore-case";
    static final String HTTP_IGNORE_TRAILING_SLASH = "limiter.http.ignore-trailing-slash";
    static final String HTTP_METHOD_OVERRIDE = "limiter.http.method-override";
    static final String HTTP_REJECTION_HANDLER = "limiter.http.rejection-handler";

    static final String TRUSTED_PROXIES = "limiter.client-ip.trusted-proxies";
    static final String TRUSTED_HOPS = "limiter.client-ip.trusted-hops";
    static final String CLIENT_HEADER = "limiter.client-ip.header";
    static final String CLIENT_IPV6_PREFIX = "limiter.client-ip.ipv6-prefix";

    static final List<String> SINGLE = List.of(
            BACKEND,
            INSTANCES,
            REDIS_ADDRESS,
            REDIS_MODE,
            REDIS_MASTER,
            REDIS_CONFIG,
            REDIS_USERNAME,
            REDIS_PASSWORD,
            REDIS_PREFIX,
            REDIS_DEADLINE,
            REDIS_STARTUP_WAIT,
            MAX_ENTRIES,
            MAX_STAMPS,
            TRUSTED_PROXIES,
            TRUSTED_HOPS,
            CLIENT_HEADER,
            CLIENT_IPV6_PREFIX,
            HTTP_HEADERS,
            HTTP_X_RATELIMIT_RESET,
            HTTP_EXPOSE_HEADERS,
            HTTP_IGNORE_CASE,
            HTTP_IGNORE_TRAILING_SLASH,
            HTTP_METHOD_OVERRIDE,
            HTTP_REJECTION_HANDLER);

    static final String LIMITS = "limits";
    static final String ON_FAILURE = "on-failure";
    static final String DEADLINE = "deadline";
    static final String PATH = "path";
    static final String METHODS = "methods";
    static final String KEY = "key";
    static final String POLICY = "policy";
    static final String IPV6_PREFIX = "ipv6-prefix";

    static final List<String> OF_POLICY = List.of(LIMITS, ON_FAILURE, DEADLINE);
    static final List<String> OF_RULE = List.of(PATH, METHODS, KEY, POLICY, LIMITS, ON_FAILURE, DEADLINE, IPV6_PREFIX);

    private Keys() {}

    /** The failure mode that other libraries call like this, or null. */
    static @Nullable String failureMode(String word) {
        return switch (word.toLowerCase(Locale.ROOT).replace("_", "-")) {
            case "fail-open", "failopen", "open" -> "allow";
            case "fail-closed", "failclosed", "fail-close", "closed" -> "deny";
            default -> null;
        };
    }

    /** Whether a section has any of these keys. Most have none, and what makes their values need not be loaded then. */
    static boolean isAny(String section, Set<String> keys) {
        for (String key : keys) {
            if (key.startsWith(section)) {
                return true;
            }
        }
        return false;
    }

    /** With {@code <name>} for that of a policy or rule. */
    static List<String> all() {
        List<String> all = new ArrayList<>(SINGLE);
        OF_POLICY.forEach(property -> all.add(POLICIES + "<name>." + property));
        OF_RULE.forEach(property -> all.add(RULES + "<name>." + property));
        return List.copyOf(all);
    }
}
