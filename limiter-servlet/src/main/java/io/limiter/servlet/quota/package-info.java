/** The response fields with the quota of a client. Needs no servlet API. For the other packages of this module. */
@NullMarked
package io.limiter.servlet.quota;

import org.jspecify.annotations.NullMarked;
