/** Tests of the words and the walls. */
@NullMarked
package io.limiter;

import org.jspecify.annotations.NullMarked;
