/** The leaders, and a member's own rank: one sorted set, and the same board cut into segments. */
@NullMarked
package io.limiter.example.fair.leaderboard;

import org.jspecify.annotations.NullMarked;
