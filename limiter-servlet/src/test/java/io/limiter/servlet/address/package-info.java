/** Clients behind proxies: tables, a second walk, noise, and a real nginx. */
@NullMarked
package io.limiter.servlet.address;

import org.jspecify.annotations.NullMarked;
