/** Plans: how often a customer may get the standings is in a database, by its API key. */
@NullMarked
package io.limiter.example.site.plans;

import org.jspecify.annotations.NullMarked;
