/** What the filter costs over HTTP: a server in a JVM of its own, and a load from this one. */
@NullMarked
package io.limiter.benchmark.http;

import org.jspecify.annotations.NullMarked;
