package io.limiter.spring;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The client of the request in which a method is called. */
public interface Caller {
    /** The client's address in the form for keys: one text for one client. */
    String address();

    /** The authenticated user, or null. */
    @Nullable
    Principal principal();
}
