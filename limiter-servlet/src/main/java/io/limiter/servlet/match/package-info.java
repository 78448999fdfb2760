/** Which requests a configured rule is for: by path and by method. For the other packages of this module. */
@NullMarked
package io.limiter.servlet.match;

import org.jspecify.annotations.NullMarked;
