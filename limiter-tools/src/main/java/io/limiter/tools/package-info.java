/** Command lines for operators and authors of rules. */
@NullMarked
package io.limiter.tools;

import org.jspecify.annotations.NullMarked;
