/** A request in HTTP, whatever server has it: whose it is, the answer if it is denied, and the explanation for an operator. */
@NullMarked
package io.limiter.http;

import org.jspecify.annotations.NullMarked;
