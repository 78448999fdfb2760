package io.limiter.servlet;

/** Text as a JSON string (RFC 8259 section 7), ASCII only. */
final class JsonText {
    private JsonText() {}

    /** Appends the text in quotes. */
    static void quote(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
