/** Limits before the methods of Spring beans, by proxies, and what a native image must keep for them. */
@NullMarked
package io.limiter.spring.proxy;

import org.jspecify.annotations.NullMarked;
