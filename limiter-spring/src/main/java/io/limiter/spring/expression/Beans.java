package io.limiter.spring.expression;

/** The beans that expressions may name. Thread-safe. */
public interface Beans {
    /** Whether there is one of that name. */
    boolean has(String name);

    /** The bean of that name. */
    Object get(String name);
}
