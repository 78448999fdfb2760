/** What a decision in this JVM costs, by JMH. */
@NullMarked
package io.limiter.benchmark.jvm;

import org.jspecify.annotations.NullMarked;
