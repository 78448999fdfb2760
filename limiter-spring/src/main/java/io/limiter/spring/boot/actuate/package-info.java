/** Spring Boot Actuator: an endpoint, health, and meters of the limiter. */
@NullMarked
package io.limiter.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
