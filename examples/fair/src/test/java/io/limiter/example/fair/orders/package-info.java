/** Tests, on real redis-servers and with real processes. */
@NullMarked
package io.limiter.example.fair.orders;

import org.jspecify.annotations.NullMarked;
