package io.limiter.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Replaces the application's limiter by one in this JVM: with the same policies and rules, wherever the application
 * keeps its state, and with a time that only the test changes. Every test method begins with unused quotas, at the same
 * time, even if methods share a context.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestLimiter
 * class VotesTest {
 *     @Autowired ManualTime time;
 *     @Autowired Votes votes;
 *
 *     @Test
 *     void threeVotesInTenSeconds() {
 *         for (int i = 0; i < 3; i++) {
 *             votes.vote("a");
 *         }
 *         assertThrows(RateLimitExceededException.class, () -> votes.vote("a"));
 *         time.advance(Duration.ofSeconds(10));
 *         votes.vote("a");
 *     }
 * }
 * }</pre>
 *
 * <p>Works with {@code @SpringBootTest}, with slices such as {@code @WebMvcTest}, in which it enables limits that are
 * otherwise disabled, and with {@code @SpringJUnitConfig}. Redis is never called, and no configured connection is made.
 * Counters and meters are those of the context and keep their counts. Methods of one context that run at the same time
 * share its limits and its time.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ImportAutoConfiguration
@TestPropertySource(properties = {"limiter.backend=in-process", "limiter.enabled=true"})
public @interface AutoConfigureTestLimiter {}
