/** A limited method: its annotations, prepared once, and its calls, each charged, decided, and made or denied. */
@NullMarked
package io.limiter.spring.method;

import org.jspecify.annotations.NullMarked;
