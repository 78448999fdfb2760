/** A call of a limited method: what it is charged, how it is decided and made, and what answers when it is denied. */
@NullMarked
package io.limiter.spring.call;

import org.jspecify.annotations.NullMarked;
