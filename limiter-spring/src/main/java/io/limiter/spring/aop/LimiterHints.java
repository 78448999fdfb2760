package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** What a native image of any application must keep: the scripts, and what annotations and expressions are read by. */
final class LimiterHints implements RuntimeHintsRegistrar {
    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/limiter/redis/*.lua");
        hints.reflection()
                .registerType(RateLimited.class, MemberCategory.INVOKE_DECLARED_METHODS)
                .registerType(RateLimited.List.class, MemberCategory.INVOKE_DECLARED_METHODS)
                .registerType(CallFacts.Words.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        hints.proxies().registerJdkProxy(RateLimited.class);
    }
}
