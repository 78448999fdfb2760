/** Benchmarks, to be run by hand. */
@NullMarked
package io.limiter.benchmark;

import org.jspecify.annotations.NullMarked;
