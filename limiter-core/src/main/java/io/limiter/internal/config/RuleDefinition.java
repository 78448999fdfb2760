package io.limiter.internal.config;

import io.limiter.Policy;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * A rule as configured: which requests, which key, which policy. Immutable.
 *
 * @param name the rule's name: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param scope which requests it applies to
 * @param key the parts of the key, in their order; empty for a shared quota
 * @param ipv6PrefixBits how many bits of an IPv6 address identify a client, in the key and where the address replaces a
 *     part of it
 * @param position where it is decided, in an application that authenticates its users in a filter
 * @param mode whether it enforces, only counts, or is disabled
 * @param charging what it charges a request, and which responses keep the charge
 */
public record RuleDefinition(
        String name,
        RuleScope scope,
        List<KeyPart> key,
        int ipv6PrefixBits,
        Position position,
        Mode mode,
        ChargeOptions charging) {
    /** What a rule does to the requests that it matches. */
    public enum Mode {
        /** It counts them, and denies those above its limits. */
        ENFORCED,
        /** It counts them and reports what it would deny. It denies nothing, and its quota fields are not sent. */
        SHADOW,
        /** Nothing. */
        OFF
    }

    /** Where a rule is decided. */
    public enum Position {
        /** Before authentication, so that failed logins count too: {@code before-authentication}. */
        BEFORE_AUTHENTICATION,
        /**
         * After authentication, where the user is known; requests that were refused earlier do not count: {@code
         * after-authentication}.
         */
        AFTER_AUTHENTICATION;

        /** The first position where the key, the exempt callers and the plan are known. */
        static Position of(List<KeyPart> key, RuleScope scope, ChargeOptions charging) {
            return scope.exempt().needUser()
                            || charging.needsUser()
                            || key.stream().anyMatch(part -> part.kind().is(KeyPart.Trait.NEEDS_USER))
                    ? AFTER_AUTHENTICATION
                    : BEFORE_AUTHENTICATION;
        }
    }

    /**
     * Whether a client can cause denials, and so a block, for the key of another client: when the key has no address
     * and no value that only its client knows.
     */
    boolean letsOthersBlock() {
        return policies().stream().anyMatch(one -> one.penalty() != null)
                && key.stream().noneMatch(part -> part.kind().is(KeyPart.Trait.OWN));
    }

    /**
     * Whether one client has as many keys as it likes: by what it writes into a request. A class, and a path alone, are
     * what the application knows; a token that authentication has refused does not come behind it.
     */
    boolean hasInventedKey() {
        return key.stream().noneMatch(KeyPart::isCostly)
                && key.stream()
                        .anyMatch(part -> part.canBeWritten()
                                && (part.kind() != KeyPart.Kind.BEARER || isBeforeAuthentication()));
    }

    /** Whether it is decided before authentication. */
    public boolean isBeforeAuthentication() {
        return position == Position.BEFORE_AUTHENTICATION;
    }

    /** The policy that it charges; with plans that of the default plan. */
    public Policy policy() {
        return charging.policy();
    }

    /** All policies that it may charge. */
    public Collection<Policy> policies() {
        return charging.policies();
    }

    /** The parts of its key and of its member. */
    public Stream<KeyPart> parts() {
        return Stream.concat(key.stream(), charging.member().stream());
    }
}
