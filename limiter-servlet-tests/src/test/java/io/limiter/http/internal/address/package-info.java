/** Clients behind proxies: tables, a second walk, noise, and a real nginx. */
@NullMarked
package io.limiter.http.internal.address;

import org.jspecify.annotations.NullMarked;
