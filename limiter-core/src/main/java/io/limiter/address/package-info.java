/**
 * Addresses of the Internet as values: strict literals, ranges in CIDR notation, one text for each. No name is ever looked
 * up.
 */
@NullMarked
package io.limiter.address;

import org.jspecify.annotations.NullMarked;
