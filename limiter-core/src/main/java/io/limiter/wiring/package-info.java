/**
 * From a configuration to a limiter that runs: the one place of this module that knows both backends.
 */
@NullMarked
package io.limiter.wiring;

import org.jspecify.annotations.NullMarked;
