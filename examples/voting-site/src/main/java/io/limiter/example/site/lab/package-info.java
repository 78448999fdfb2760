/** The laboratory: the same traffic is put to four policies at once, one an algorithm, and what they decide is kept to be drawn. */
@NullMarked
package io.limiter.example.site.lab;

import org.jspecify.annotations.NullMarked;
