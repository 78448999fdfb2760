/** Which requests a configured rule is for: by path and by method. */
@NullMarked
package io.limiter.servlet.match;

import org.jspecify.annotations.NullMarked;
