package io.limiter.kit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** As {@link OnEachBackend}, but on each of {@link Backends#withSentinel}: for what depends on the client of Redis. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "on {0}")
@MethodSource("io.limiter.kit.OpenBackend#withBothClients")
public @interface OnEachClient {}
