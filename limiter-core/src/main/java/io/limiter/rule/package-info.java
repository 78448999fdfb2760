/** Turns a subject of any kind, such as an HTTP request or a method call, into charges. */
@NullMarked
package io.limiter.rule;

import org.jspecify.annotations.NullMarked;
