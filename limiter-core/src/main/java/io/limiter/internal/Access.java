package io.limiter.internal;

/**
 * The argument of what is public only because packages of this library share it: constructors of classes that only the
 * library extends, methods that only it calls.
 */
public enum Access {
    /** The only one. */
    LIBRARY
}
