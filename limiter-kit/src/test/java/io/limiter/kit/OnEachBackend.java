package io.limiter.kit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A test of the contract: runs once on each of {@link Backends#all}, with an {@link OpenBackend} as its parameter. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "on {0}")
@MethodSource("io.limiter.kit.OpenBackend#all")
public @interface OnEachBackend {}
