/** Whose quota a configured rule charges: the key of a request. For the other packages of this module, and limiter-spring. */
@NullMarked
package io.limiter.servlet.key;

import org.jspecify.annotations.NullMarked;
