/**
 * The contract that every backend keeps, and what it takes to check it: real Redis servers, traces, seeded traffic and a
 * naive model. Nothing here knows which backend it checks; their list stands in {@link io.limiter.kit.Backends}.
 */
@NullMarked
package io.limiter.kit;

import org.jspecify.annotations.NullMarked;
