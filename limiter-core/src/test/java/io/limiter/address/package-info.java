/** Addresses against tables, against a library that others wrote, and against noise. */
@NullMarked
package io.limiter.address;

import org.jspecify.annotations.NullMarked;
