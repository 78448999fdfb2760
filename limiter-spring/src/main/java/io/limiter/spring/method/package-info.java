/** Methods with annotations: which they are, and what is made of them once, with the policies that a limiter has now. */
@NullMarked
package io.limiter.spring.method;

import org.jspecify.annotations.NullMarked;
