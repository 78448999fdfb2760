/** Orders of the flash sale in two queues: a list, which loses what a dead worker had, and a stream, which does not. */
@NullMarked
package io.limiter.example.fair.orders;

import org.jspecify.annotations.NullMarked;
