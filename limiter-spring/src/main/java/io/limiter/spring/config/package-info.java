/** Limited methods in a Spring context without Boot. */
@NullMarked
package io.limiter.spring.config;

import org.jspecify.annotations.NullMarked;
