/** Who was here on which day: one bitmap a member and year. */
@NullMarked
package io.limiter.example.fair.attendance;

import org.jspecify.annotations.NullMarked;
