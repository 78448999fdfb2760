/** Connects everything: a running limiter made of its configuration, replaced and reloaded while it runs. */
@NullMarked
package io.limiter.application;

import org.jspecify.annotations.NullMarked;
