/** What limited methods need in a web application: the caller of the request, and the answer to a denied call. */
@NullMarked
package io.limiter.spring.internal.web;

import org.jspecify.annotations.NullMarked;
