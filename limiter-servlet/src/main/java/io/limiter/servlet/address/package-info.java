/**
 * The address of a client, also behind proxies. Can be used without the filter, and without a servlet container.
 */
@NullMarked
package io.limiter.servlet.address;

import org.jspecify.annotations.NullMarked;
