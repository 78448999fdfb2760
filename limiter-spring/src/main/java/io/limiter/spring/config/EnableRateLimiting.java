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
 * <li>{@code limiter}, a {@link io.limiter.Limiter} that is started from the file and closed with the context;
 * <li>{@code callerSource}, a {@link io.limiter.spring.CallerSource} that knows the request of Spring MVC, where there is
 *     spring-web;
 * <li>{@code rateLimitExceededAdvice}, which answers a denied call with HTTP 429, where there is spring-web. It is left out
 *     when a {@code @ControllerAdvice} of the application handles {@link io.limiter.spring.RateLimitExceededException}.
 * <li>in a context with WebFlux instead of the last two {@code rateLimitExceededWebHandler} and
 *     {@code reactiveRateLimitExceededAdvice}, which answer a denied call in the same way.
 * </ul>
 *
 * <p>A Spring Boot application does not need it: there {@code limiter.*} of its own configuration counts, and the file is not read.
 *
 * <p>Any mistake, in the file or in an annotation, stops the start of the context.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(RateLimitingRegistrar.class)
public @interface EnableRateLimiting {
    /**
     * Where the configuration is: any resource of Spring; placeholders are resolved. Variables of the environment go over
     * it ({@code LIMITER_POLICIES_VOTE_LIMITS}). Not read when the application has a bean of type
     * {@link io.limiter.Limiter}.
     */
    String value() default "classpath:limiter.properties";

    /**
     * Whether proxies are subclasses of the beans also where these implement interfaces. Otherwise they have the interfaces
     * alone, and a controller that implements one is no controller any more.
     */
    boolean proxyTargetClass() default true;
}
