/** Workers as processes of their own, so that the page and the tests can kill them. */
@NullMarked
package io.limiter.example.fair.worker;

import org.jspecify.annotations.NullMarked;
