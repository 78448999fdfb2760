/** For the tests of an application with Spring Boot: its limits in this JVM, at a time that the test sets. */
@NullMarked
package io.limiter.spring.boot.test;

import org.jspecify.annotations.NullMarked;
