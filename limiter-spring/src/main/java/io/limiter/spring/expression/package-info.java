/** The expressions of annotations: whose quota a call uses, what it costs, and whether it is limited. Knows no limiter. */
@NullMarked
package io.limiter.spring.expression;

import org.jspecify.annotations.NullMarked;
