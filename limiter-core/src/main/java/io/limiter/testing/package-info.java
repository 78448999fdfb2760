/** For the tests of applications: a limiter whose answers the test sets. */
@NullMarked
package io.limiter.testing;

import org.jspecify.annotations.NullMarked;
