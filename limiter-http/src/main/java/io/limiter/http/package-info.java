/**
 * A request in HTTP, whatever server has it: what its server adapts, the answer if it is denied, and the explanation for an
 * operator.
 */
@NullMarked
package io.limiter.http;

import org.jspecify.annotations.NullMarked;
