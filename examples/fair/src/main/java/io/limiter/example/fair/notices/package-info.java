/** Notices to voters: pushed to those who are active, pulled by the others when they come back. */
@NullMarked
package io.limiter.example.fair.notices;

import org.jspecify.annotations.NullMarked;
