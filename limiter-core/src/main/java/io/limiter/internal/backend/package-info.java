/** No API: a backend around another one. */
@NullMarked
package io.limiter.internal.backend;

import org.jspecify.annotations.NullMarked;
