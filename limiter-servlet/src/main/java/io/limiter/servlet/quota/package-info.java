/** The response fields that give a client its quota. Needs no servlet API. */
@NullMarked
package io.limiter.servlet.quota;

import org.jspecify.annotations.NullMarked;
