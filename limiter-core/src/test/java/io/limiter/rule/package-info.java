/** Rules and charges. */
@NullMarked
package io.limiter.rule;

import org.jspecify.annotations.NullMarked;
