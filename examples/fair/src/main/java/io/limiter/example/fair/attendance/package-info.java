/** Attendance by day: one bitmap for each member and year. */
@NullMarked
package io.limiter.example.fair.attendance;

import org.jspecify.annotations.NullMarked;
