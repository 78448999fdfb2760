/** A lock of one holder, also over several servers, and the fencing token that makes its result safe. */
@NullMarked
package io.limiter.example.fair.lock;

import org.jspecify.annotations.NullMarked;
