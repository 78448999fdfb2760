/** Benchmarks: what the cases in this JVM and on Redis have in common. */
@NullMarked
package io.limiter.benchmark;

import org.jspecify.annotations.NullMarked;
