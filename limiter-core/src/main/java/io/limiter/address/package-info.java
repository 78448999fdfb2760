/**
 * Addresses of the Internet as values: strict literals, ranges in CIDR notation, one canonical text for each. DNS is
 * never used.
 */
@NullMarked
package io.limiter.address;

import org.jspecify.annotations.NullMarked;
