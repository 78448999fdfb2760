/**
 * The limiter before a web application: a filter that turns requests into charges by rules, and denials into HTTP.
 */
@NullMarked
package io.limiter.servlet;

import org.jspecify.annotations.NullMarked;
