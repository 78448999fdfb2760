/** The rules: which ones a request meets, what it is charged, and what became of it. For the other packages of this library. */
@NullMarked
package io.limiter.http.internal;

import org.jspecify.annotations.NullMarked;
