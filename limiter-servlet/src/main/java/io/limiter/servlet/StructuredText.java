package io.limiter.servlet;

/** Text as a String of structured fields (RFC 9651 section 4.1.6). */
final class StructuredText {
    private StructuredText() {}

    /**
     * The text in quotes.
     *
     * @throws IllegalArgumentException if it has other characters than printable ASCII, which no such String can have
     */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                throw new IllegalArgumentException(
                        "character " + (int) c + " can't stand in a response field; use printable ASCII");
            }
            if (c == '"' || c == '\\') {
                quoted.append('\\');
            }
            quoted.append(c);
        }
        return quoted.append('"').toString();
    }
}
