/** The address of a client, also behind proxies. For the other packages of this library. */
@NullMarked
package io.limiter.http.internal.address;

import org.jspecify.annotations.NullMarked;
