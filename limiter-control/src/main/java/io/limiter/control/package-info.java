/** Control from one place: what operators publish for the instances of a group, and how an instance follows it. */
@NullMarked
package io.limiter.control;

import org.jspecify.annotations.NullMarked;
