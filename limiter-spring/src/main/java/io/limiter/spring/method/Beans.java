package io.limiter.spring.method;

import java.util.function.Function;
import java.util.function.Predicate;

/** The beans that expressions may name. */
public record Beans(Predicate<String> has, Function<String, Object> get) {}
