/** The cost of the filter over HTTP, and of the other doors: a server in a JVM of its own, and load from this one. */
@NullMarked
package io.limiter.benchmark.http;

import org.jspecify.annotations.NullMarked;
