/** Tests, on real redis-servers and with real processes. */
@NullMarked
package io.limiter.example.fair.lock;

import org.jspecify.annotations.NullMarked;
