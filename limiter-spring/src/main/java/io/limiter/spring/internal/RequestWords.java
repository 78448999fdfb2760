package io.limiter.spring.internal;

import io.limiter.PartitionKey;
import io.limiter.internal.rule.KeyFold;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The words without {@code #}: properties of the root object. Its methods are public, because the language calls no others. */
final class RequestWords {
    private final MethodScope scope;

    RequestWords(MethodScope scope) {
        this.scope = scope;
    }

    /** The client's address. */
    public String getIp() {
        return scope.requiredCaller().address();
    }

    /** The name of the authenticated user, or null. */
    public @Nullable String getUser() {
        Principal principal = getPrincipal();
        return principal == null ? null : principal.getName();
    }

    /** The authenticated user, or null. */
    public @Nullable Principal getPrincipal() {
        return scope.requiredCaller().principal();
    }

    /** The key of a shared quota. */
    public PartitionKey getGlobal() {
        return PartitionKey.global();
    }

    /** One text for all spellings of a name. */
    public String fold(@Nullable String name) {
        return name == null ? "" : KeyFold.of(name);
    }
}
