/** The operators' page: its login. The page itself is in static/operators, and shows what the actuator answers. */
@NullMarked
package io.limiter.example.site.operators;

import org.jspecify.annotations.NullMarked;
