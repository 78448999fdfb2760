package io.limiter.spring.aop;

/** What is wrong with an annotation, or with what a call made of it. The messages start with codes of docs/diagnostics.md. */
final class Wrong {
    static final String NO_POLICY = "RL-120";
    static final String CONTRADICTION = "RL-121";
    static final String LIMITS = "RL-122";
    static final String NO_EXPRESSION = "RL-123";
    static final String UNKNOWN_NAME = "RL-124";
    static final String FALLBACK = "RL-125";
    static final String SHARED_NAME = "RL-126";
    static final String UNFIT_NAME = "RL-127";
    static final String NO_KEY = "RL-128";
    static final String NO_LIMITER = "RL-129";
    static final String OUT_OF_REACH = "RL-130";
    static final String RETURN_TYPE = "RL-131";
    static final String VALUE = "RL-132";
    static final String SHADOW = "RL-133";
    static final String ESCAPED = "RL-134";
    static final String PERHAPS_WOVEN = "RL-135";

    static final String UNUSED_POLICIES = "RL-140";
    static final String NOT_WOVEN = "RL-142";
    static final String NO_WEAVER = "RL-143";

    private Wrong() {}

    /** An exception that names the method, what is wrong, and the remedy. */
    static IllegalStateException at(String code, String method, String text) {
        return new IllegalStateException(code + " @RateLimited at " + method + ": " + text);
    }

    static IllegalStateException at(String code, String method, String text, Throwable cause) {
        return new IllegalStateException(code + " @RateLimited at " + method + ": " + text, cause);
    }
}
