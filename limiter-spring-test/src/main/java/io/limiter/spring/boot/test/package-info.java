/** Test support for applications with Spring Boot: limits in this JVM, with a time that the test sets. */
@NullMarked
package io.limiter.spring.boot.test;

import org.jspecify.annotations.NullMarked;
