/**
 * A servlet filter that limits a web application: it turns requests into charges by rules, and denials into HTTP responses.
 */
@NullMarked
package io.limiter.servlet;

import org.jspecify.annotations.NullMarked;
