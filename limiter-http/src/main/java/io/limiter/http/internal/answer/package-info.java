/** The limits in the answer to a request. For the other packages of this library. */
@NullMarked
package io.limiter.http.internal.answer;

import org.jspecify.annotations.NullMarked;
