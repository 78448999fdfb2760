package io.limiter.servlet;

/** A configuration with rules that count nothing, each for another reason, and the reasons as users read them. */
public final class UnusedRules {
    public static final String RULES = """
            limiter.exempt.addresses = 127.0.0.0/8
            limiter.rules.typo.path = /apii/*
            limiter.rules.typo.limits = 2/1m
            limiter.rules.api.path = /api/*
            limiter.rules.api.except = /api/health
            limiter.rules.api.limits = 2/1m
            limiter.rules.tried.path = /api/*
            limiter.rules.tried.shadow = true
            limiter.rules.tried.limits = 1/1m
            limiter.rules.rest.default = true
            limiter.rules.rest.limits = 5/1m
            limiter.rules.off.path = /off
            limiter.rules.off.enabled = false
            limiter.rules.off.limits = 1/1m
            """;
    public static final String NONE = "no request has matched it";
    public static final String EXEMPT =
            "each request that matched it was left out, the latest because limiter.exempt has the caller";

    private UnusedRules() {}
}
