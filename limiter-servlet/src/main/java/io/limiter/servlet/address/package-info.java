/**
 * Whose request it is: the address of a client, behind proxies too. Usable without the filter, and without a servlet
 * container.
 */
@NullMarked
package io.limiter.servlet.address;

import org.jspecify.annotations.NullMarked;
