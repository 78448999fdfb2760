package io.limiter.spring;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Who makes the request that a method is called for. */
public interface Caller {
    /** The client's address, fit for a key: one text for one client. */
    String address();

    /** Who is logged in, or null. */
    @Nullable
    Principal principal();
}
