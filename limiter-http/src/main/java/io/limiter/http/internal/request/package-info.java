/** A request as the rules read it. For the other packages of this library. */
@NullMarked
package io.limiter.http.internal.request;

import org.jspecify.annotations.NullMarked;
