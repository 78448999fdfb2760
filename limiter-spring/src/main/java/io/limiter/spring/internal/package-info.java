/** How an annotated method is limited: its annotations, its key and charges, and its calls by proxies and weaving. */
@NullMarked
package io.limiter.spring.internal;

import org.jspecify.annotations.NullMarked;
