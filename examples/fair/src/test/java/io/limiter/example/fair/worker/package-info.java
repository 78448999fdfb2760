/** Tests, on real redis-servers and with real processes. */
@NullMarked
package io.limiter.example.fair.worker;

import org.jspecify.annotations.NullMarked;
