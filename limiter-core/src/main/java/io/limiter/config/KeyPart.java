package io.limiter.config;

import org.jspecify.annotations.Nullable;

/**
 * One part of whose quota a rule asks for.
 *
 * @param kind where the part comes from
 * @param name which header, cookie or path variable; null for the other kinds
 */
public record KeyPart(Kind kind, @Nullable String name) {
    /** Where a part comes from. */
    public enum Kind {
        /** The client's address: {@code ip}. */
        IP("ip", false),
        /** The authenticated user: {@code user}. */
        USER("user", false),
        /** The session that the client has: {@code session}. */
        SESSION("session", false),
        /** A request header: {@code header:X-Api-Key}. */
        HEADER("header", true),
        /** A cookie: {@code cookie:name}. */
        COOKIE("cookie", true),
        /** A variable of the rule's path: {@code path:name} for {@code /users/{name}}. */
        PATH("path", true);

        private final String text;
        private final boolean named;

        Kind(String text, boolean named) {
            this.text = text;
            this.named = named;
        }

        /** The kind in configuration text. */
        public String text() {
            return text;
        }

        /** Whether a name follows. */
        public boolean isNamed() {
            return named;
        }
    }
}
