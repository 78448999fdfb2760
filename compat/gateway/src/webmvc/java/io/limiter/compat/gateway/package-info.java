/** Real gateways with services behind them. */
@NullMarked
package io.limiter.compat.gateway;

import org.jspecify.annotations.NullMarked;
