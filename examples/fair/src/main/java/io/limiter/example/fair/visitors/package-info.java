/** Page views and different visitors: a counter and a HyperLogLog a page and day. */
@NullMarked
package io.limiter.example.fair.visitors;

import org.jspecify.annotations.NullMarked;
