package io.limiter.spring.internal;

import java.util.function.Function;
import java.util.function.Predicate;

/** The beans that expressions may name. */
record Beans(Predicate<String> has, Function<String, Object> get) {}
