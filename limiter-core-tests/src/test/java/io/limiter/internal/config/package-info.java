/** Configuration text and its mistakes. */
@NullMarked
package io.limiter.internal.config;

import org.jspecify.annotations.NullMarked;
