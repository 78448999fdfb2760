/** No API: an instance that follows what operators publish for its group. */
@NullMarked
package io.limiter.internal.follow;

import org.jspecify.annotations.NullMarked;
