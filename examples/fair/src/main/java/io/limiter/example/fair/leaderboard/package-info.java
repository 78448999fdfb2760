/** Who leads, and where am I: one sorted set, and the same board cut into segments. */
@NullMarked
package io.limiter.example.fair.leaderboard;

import org.jspecify.annotations.NullMarked;
