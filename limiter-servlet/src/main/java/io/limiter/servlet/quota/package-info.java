/** The response fields that give a client its quota. Needs no servlet API. For the other packages of this module. */
@NullMarked
package io.limiter.servlet.quota;

import org.jspecify.annotations.NullMarked;
