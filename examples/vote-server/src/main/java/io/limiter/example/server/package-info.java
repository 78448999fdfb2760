/** A server for the vote. */
@NullMarked
package io.limiter.example.server;

import org.jspecify.annotations.NullMarked;
