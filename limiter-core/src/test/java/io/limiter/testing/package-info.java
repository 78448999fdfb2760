/** Tests of what the tests of applications use. */
@NullMarked
package io.limiter.testing;

import org.jspecify.annotations.NullMarked;
