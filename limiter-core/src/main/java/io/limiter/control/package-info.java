/** Control of all instances of a group from one place: published configuration, overrides of single keys, switches. */
@NullMarked
package io.limiter.control;

import org.jspecify.annotations.NullMarked;
