/** Spring Boot: {@code limiter.*} of the application's configuration, and all beans, each unless the application has its own. */
@NullMarked
package io.limiter.spring.boot;

import org.jspecify.annotations.NullMarked;
