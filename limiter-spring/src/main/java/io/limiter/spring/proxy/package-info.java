/** Limits on methods of Spring beans by proxies, and their hints for native images. */
@NullMarked
package io.limiter.spring.proxy;

import org.jspecify.annotations.NullMarked;
