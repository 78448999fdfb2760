/** Which requests a configured rule matches, by path, method, headers and query. For the other packages of this library. */
@NullMarked
package io.limiter.http.internal.match;

import org.jspecify.annotations.NullMarked;
