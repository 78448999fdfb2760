/** Spring Boot Actuator: what is limited and how it goes, as an endpoint, as health, and as meters. */
@NullMarked
package io.limiter.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
