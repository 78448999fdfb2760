/** What all packages use and nobody outside: no API, it can change with each release. Knows no other package. */
@NullMarked
package io.limiter.internal;

import org.jspecify.annotations.NullMarked;
