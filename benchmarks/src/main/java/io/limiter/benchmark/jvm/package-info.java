/** What a decision in this JVM costs. */
@NullMarked
package io.limiter.benchmark.jvm;

import org.jspecify.annotations.NullMarked;
