package io.limiter.spring.aop;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One call of a limited method, which waits for its decision. Used by one thread at a time. */
abstract class MethodCall {
    private @Nullable CallFacts facts;
    private boolean asked;
    private @Nullable Caller caller;

    /** The object whose method is called; null for a static one. */
    abstract @Nullable Object target();

    abstract @Nullable Object[] arguments();

    /** Calls the method; perhaps on another thread, and once at most. */
    abstract @Nullable Object proceed() throws Throwable;

    /** Calls the method as if the call came again. */
    abstract @Nullable Object proceedAgain() throws Throwable;

    /** Whose request this is; asked once. */
    @Nullable
    Caller caller(CallerSource callers) {
        if (!asked) {
            caller = callers.current();
            asked = true;
        }
        return caller;
    }

    /** What expressions see of this call. */
    CallFacts facts(MethodSite site) {
        CallFacts known = facts;
        if (known == null) {
            known = new CallFacts(site, this);
            facts = known;
        }
        return Objects.requireNonNull(known);
    }
}
