/** The memory of clients in this JVM, and in Redis. */
@NullMarked
package io.limiter.benchmark.memory;

import org.jspecify.annotations.NullMarked;
