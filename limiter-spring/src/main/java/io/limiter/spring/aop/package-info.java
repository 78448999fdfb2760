/**
 * From the annotation to a decision: around a method of a Spring bean, or woven into any class by AspectJ. Knows no servlet.
 */
@NullMarked
package io.limiter.spring.aop;

import org.jspecify.annotations.NullMarked;
