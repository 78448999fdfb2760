/** Voting codes that count once: a Bloom filter before the full check. */
@NullMarked
package io.limiter.example.fair.codes;

import org.jspecify.annotations.NullMarked;
