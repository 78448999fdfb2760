/** A vote with Spring Boot: the application, its candidates, and what every answer says to the browser. */
@NullMarked
package io.limiter.example.site;

import org.jspecify.annotations.NullMarked;
