/** Which requests a configured rule matches, by path, method, headers and query. For the other packages of this module. */
@NullMarked
package io.limiter.servlet.match;

import org.jspecify.annotations.NullMarked;
