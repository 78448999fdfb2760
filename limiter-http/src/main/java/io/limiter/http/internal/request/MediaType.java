package io.limiter.http.internal.request;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The value of a Content-Type. */
final class MediaType {
    private static final Pattern CHARSET = Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]+)");

    private MediaType() {}

    static @Nullable String charset(String type) {
        Matcher found = CHARSET.matcher(type);
        return found.find() ? found.group(1) : null;
    }
}
