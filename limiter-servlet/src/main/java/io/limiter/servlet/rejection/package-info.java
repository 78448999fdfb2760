/** The quota fields on every answer, and the whole answer to a denied request. */
@NullMarked
package io.limiter.servlet.rejection;

import org.jspecify.annotations.NullMarked;
