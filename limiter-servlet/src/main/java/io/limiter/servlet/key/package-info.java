/**
 * The key of a request, which selects the quota that a configured rule charges. For the other packages of this module,
 * and limiter-spring.
 */
@NullMarked
package io.limiter.servlet.key;

import org.jspecify.annotations.NullMarked;
