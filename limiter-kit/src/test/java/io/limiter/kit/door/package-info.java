/** What must be the same at each door: servlet containers, WebFlux. A door's module extends {@link io.limiter.kit.door.DoorTest}. */
@org.jspecify.annotations.NullMarked
package io.limiter.kit.door;
