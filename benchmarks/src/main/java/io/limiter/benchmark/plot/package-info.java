/** Pictures of the tables. */
@NullMarked
package io.limiter.benchmark.plot;

import org.jspecify.annotations.NullMarked;
