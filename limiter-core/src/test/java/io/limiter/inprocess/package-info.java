/** What only the state in this JVM has: bounds. */
@NullMarked
package io.limiter.inprocess;

import org.jspecify.annotations.NullMarked;
