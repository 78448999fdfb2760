/** The cost of a decision in this JVM, by JMH. */
@NullMarked
package io.limiter.benchmark.jvm;

import org.jspecify.annotations.NullMarked;
