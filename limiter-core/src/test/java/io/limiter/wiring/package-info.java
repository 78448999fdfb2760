/** From text to a limiter that runs. */
@NullMarked
package io.limiter.wiring;

import org.jspecify.annotations.NullMarked;
