/** Tests of control from one place, on real servers. */
package io.limiter.control;
