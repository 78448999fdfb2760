/** A real browser for the tests of examples with pages. */
@NullMarked
package io.limiter.example.browser;

import org.jspecify.annotations.NullMarked;
