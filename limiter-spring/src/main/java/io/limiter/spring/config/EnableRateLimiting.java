package io.limiter.spring.config;

import io.limiter.spring.RateLimited;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Limits the beans of a Spring context that have the annotation {@link RateLimited}.
 *
 * <pre>{@code
 * @Configuration
 * @EnableRateLimiting("classpath:limiter.properties")
 * class AppConfiguration { ... }
 * }</pre>
 *
 * <p>It defines these beans, each unless the application defines one of its type:
 * <ul>
 * <li>{@code limiter}, a {@link io.limiter.application.Limiter} that is started from the file and closed with the context;
 * <li>{@code callerSource}, a {@link io.limiter.spring.CallerSource} that finds the request of Spring MVC, if
 * spring-web is present;
 * <li>{@code rateLimitExceededAdvice}, which answers a denied call with HTTP 429, if spring-web is present. It is
 * omitted if a {@code @ControllerAdvice} of the application handles {@link
 * io.limiter.spring.RateLimitExceededException}.
 * <li>in a context with WebFlux instead of the last two {@code rateLimitExceededWebHandler} and
 *     {@code reactiveRateLimitExceededAdvice}, which answer a denied call in the same way.
 * </ul>
 *
 * <p>A Spring Boot application does not need it: it uses its own properties {@code limiter.*}, and the file is not read.
 *
 * <p>A mistake in the file or in an annotation fails startup of the context.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(RateLimitingRegistrar.class)
public @interface EnableRateLimiting {
    /**
     * The location of the configuration: any resource of Spring; placeholders are resolved. Environment variables
     * override it ({@code LIMITER_POLICIES_VOTE_LIMITS}). Not read if the application has a bean of type
     * {@link io.limiter.application.Limiter}.
     */
    String value() default "classpath:limiter.properties";

    /**
     * Whether proxies are subclasses of beans even if these implement interfaces. Otherwise they have only the
     * interfaces, and a controller that implements one is no longer a controller.
     */
    boolean proxyTargetClass() default true;
}
