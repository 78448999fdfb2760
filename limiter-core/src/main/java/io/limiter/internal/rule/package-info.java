/** What rules for requests and for methods share. For the other packages of this library. */
@NullMarked
package io.limiter.internal.rule;

import org.jspecify.annotations.NullMarked;
