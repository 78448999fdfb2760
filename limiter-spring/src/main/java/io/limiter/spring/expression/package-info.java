/** The expressions of annotations: the key and the cost of a call, and whether it is limited. Does not depend on a limiter. */
@NullMarked
package io.limiter.spring.expression;

import org.jspecify.annotations.NullMarked;
