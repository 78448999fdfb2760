/** A vote with Spring Boot: the application, its candidates, and the header fields of every response. */
@NullMarked
package io.limiter.example.site;

import org.jspecify.annotations.NullMarked;
