/** The contract, checked for every backend of {@link io.limiter.kit.Backends}. */
@NullMarked
package io.limiter.contract;

import org.jspecify.annotations.NullMarked;
