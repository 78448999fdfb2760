package io.limiter.http.internal.match;

import io.limiter.http.internal.request.Request;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import java.nio.charset.Charset;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The methods that a POST claims to be, by a header or by the parameter {@code _method} of its query. It is unknown
 * whether the application follows the claim, so a rule for such a method counts the request too. The body is not read:
 * it belongs to the application, and is read after the limit.
 */
final class MethodOverrides {
    private static final List<String> HEADERS = List.of("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override");
    private static final String PARAMETER = "_method";
    private static final int MOST = 16;
    private static final int LONGEST = 64;

    /** A claim that can be any method: how the application would read it is not known. */
    private static final String ANY = "*";

    /** Characters that an application could trim: spaces of all kinds and control characters. */
    private static final Pattern BLANK_ENDS = Pattern.compile(
            "^[\\p{javaWhitespace}\\p{javaSpaceChar}\\p{Cc}]+|" + "[\\p{javaWhitespace}\\p{javaSpaceChar}\\p{Cc}]+\\z");

    private MethodOverrides() {}

    /**
     * The claims of the request.
     *
     * @param method of the request, in upper case
     */
    static Set<String> of(Request request, String method, MethodOverride mode) {
        if (mode == MethodOverride.NONE || !method.equals("POST")) {
            return Set.of();
        }
        if (mode == MethodOverride.FORMS && mayBeForm(request.contentType())) {
            return Set.of(ANY);
        }
        Set<String> claimed = declared(request);
        if (claimed.size() > MOST) {
            // A legitimate client does not claim many methods. It is unknown which one the application uses, so it may
            // be any.
            claimed.add(ANY);
        }
        return claimed;
    }

    /** Whether the request, of any method, has a header or a query parameter that claims one, even an empty one. */
    static boolean areDeclared(Request request, MethodOverride mode) {
        return mode != MethodOverride.NONE && !declared(request).isEmpty();
    }

    private static Set<String> declared(Request request) {
        Set<String> claimed = new HashSet<>();
        for (String header : HEADERS) {
            List<String> lines = request.headers(header);
            for (int i = 0; lines != null && i < lines.size() && claimed.size() <= MOST; i++) {
                claim(lines.get(i), claimed);
            }
        }
        String query = request.query();
        Charset charset = PercentText.rereading(request, query);
        PercentText.anyParameter(query, (name, value) -> {
            if (value != null && claimed.size() <= MOST && PercentText.isNamed(PARAMETER, name, charset)) {
                PercentText.readings(value.replace('+', ' '), charset).forEach(reading -> claim(reading, claimed));
            }
            return claimed.size() > MOST;
        });
        return claimed;
    }

    /** Whether one of the methods of a rule is claimed; HEAD is GET, as with real ones. */
    static boolean include(Set<String> claimed, Set<String> ofRule) {
        return claimed.contains(ANY)
                || !Collections.disjoint(claimed, ofRule)
                || (claimed.contains("HEAD") && ofRule.contains("GET"));
    }

    private static void claim(String text, Set<String> claimed) {
        if (text.length() > LONGEST) {
            claimed.add(ANY);
            return;
        }
        // A proxy may have joined several lines of one header.
        for (String one : text.split(",", -1)) {
            claimed.add(BLANK_ENDS.matcher(one).replaceAll("").toUpperCase(Locale.ROOT));
        }
    }

    /** Whether an application may read parameters in a body of that type. Some do in more types than those of forms. */
    static boolean mayBeForm(@Nullable String contentType) {
        String type = String.valueOf(contentType).toLowerCase(Locale.ROOT);
        return type.contains("form-") || type.contains("multipart/") || type.contains("*");
    }
}
