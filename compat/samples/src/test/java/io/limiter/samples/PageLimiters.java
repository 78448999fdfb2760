package io.limiter.samples;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Pages;
import io.limiter.spring.config.EnableRateLimiting;
import java.io.IOException;
import java.io.StringReader;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Limiters with the configurations of the pages "How do I ...?", and the clock of the test. */
final class PageLimiters {
    final ManualTime time = new ManualTime();

    /** The limiter of a page's configuration, with the clock of the test. */
    Limiter limiter(String configuration) throws IOException {
        LimiterConfig config = LimiterConfig.builder()
                .text("page", new StringReader(configuration))
                .build();
        return Limiter.of(
                config,
                RateLimiters.on(InProcessBackend.builder().timeSource(time).build()));
    }

    /** The block of properties of a page that has this text in it. */
    static String properties(String page, String having) {
        return Pages.blocks(Pages.text("how-do-i/" + page), "properties").stream()
                .filter(block -> block.contains(having))
                .findFirst()
                .orElseThrow();
    }

    @Configuration
    @EnableRateLimiting
    static class Spring {}

    /** A context of Spring with this bean, and a policy {@code vote} of 3 in 10 seconds. */
    AnnotationConfigApplicationContext spring(Class<?> bean) throws IOException {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        Limiter limiter = limiter("limiter.policies.vote.limits = 3/10s");
        context.registerBean(Limiter.class, () -> limiter);
        context.register(Spring.class, bean);
        context.refresh();
        return context;
    }
}
