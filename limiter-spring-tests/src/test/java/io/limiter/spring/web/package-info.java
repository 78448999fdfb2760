@NullMarked
package io.limiter.spring.web;

import org.jspecify.annotations.NullMarked;
