/** Limited methods in a web request: the client, and the denied call as an HTTP response. */
@NullMarked
package io.limiter.spring.web;

import org.jspecify.annotations.NullMarked;
