/** What clients cost in the memory of this JVM, and in that of Redis. */
@NullMarked
package io.limiter.benchmark.memory;

import org.jspecify.annotations.NullMarked;
