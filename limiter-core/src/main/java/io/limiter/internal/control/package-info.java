/** No API: what operators publish for many instances, as values; and how decisions follow it. Knows no configuration. */
@NullMarked
package io.limiter.internal.control;

import org.jspecify.annotations.NullMarked;
