/** A gateway with two services behind it. */
@NullMarked
package io.limiter.example.gateway;

import org.jspecify.annotations.NullMarked;
