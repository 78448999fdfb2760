package io.limiter.example.site.lab;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Each vote of a visitor with an open laboratory also goes to the four policies, whether it is counted or denied. Their number
 * is limited, so a flood of votes costs no more than one decision each.
 */
@Configuration(proxyBeanMethods = false)
class VotesAreArrivals implements WebMvcConfigurer, HandlerInterceptor {
    private final Laboratory laboratory;
    private final Visitors visitors;
    private final Limiter limiter;

    VotesAreArrivals(Laboratory laboratory, Visitors visitors, Limiter limiter) {
        this.laboratory = laboratory;
        this.visitors = visitors;
        this.limiter = limiter;
        // A look, so that startup does not report a policy that only code uses (RL-140).
        limiter.tryAcquire("lab-votes", PartitionKey.global(), 0);
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this).addPathPatterns("/api/votes");
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (request.getMethod().equals("POST")) {
            LabCookies.visitor(request)
                    .flatMap(visitors::known)
                    .filter(visitor ->
                            limiter.tryAcquire("lab-votes", keyOf(request), 1).allowed())
                    .ifPresent(laboratory::arrive);
        }
        return true;
    }

    private static PartitionKey keyOf(HttpServletRequest request) {
        return PartitionKey.of(LabCookies.visitor(request).orElse(""));
    }
}
