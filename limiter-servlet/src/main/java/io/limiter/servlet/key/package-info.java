/** Whose quota a configured rule charges: the key of a request. */
@NullMarked
package io.limiter.servlet.key;

import org.jspecify.annotations.NullMarked;
