/** A call of a limited method: its charges, its decision, the call itself, and the fallback of a denied one. */
@NullMarked
package io.limiter.spring.call;

import org.jspecify.annotations.NullMarked;
