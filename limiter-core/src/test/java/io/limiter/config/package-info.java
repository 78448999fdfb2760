/** Configuration text and its mistakes. */
@NullMarked
package io.limiter.config;

import org.jspecify.annotations.NullMarked;
