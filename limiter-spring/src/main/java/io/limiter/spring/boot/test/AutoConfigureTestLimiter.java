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
 * Puts a limiter in this JVM in the place of the application's: with its policies and rules, wherever it keeps its state, and at a
 * time that stands still until the test moves it. Every test method begins with nothing used, at the same time, also where
 * methods share a context.
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
 * <p>It goes with {@code @SpringBootTest}, with slices such as {@code @WebMvcTest}, in which it switches limits on that else are
 * off there, and with {@code @SpringJUnitConfig}. Redis is never asked, nor connected to by configuration. Counters and meters are
 * those of the context and go on counting. Methods of one context that run at the same time share its limits and its time.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ImportAutoConfiguration
@TestPropertySource(properties = {"limiter.backend=in-process", "limiter.enabled=true"})
public @interface AutoConfigureTestLimiter {}
