/**
 * The laboratory: the same traffic goes to four policies at once, one for each algorithm, and their decisions are kept
 * for drawing.
 */
@NullMarked
package io.limiter.example.site.lab;

import org.jspecify.annotations.NullMarked;
