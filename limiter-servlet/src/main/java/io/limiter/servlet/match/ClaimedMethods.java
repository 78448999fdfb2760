package io.limiter.servlet.match;

import io.limiter.config.HttpSettings.MethodOverride;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The methods that a POST asks to be taken for, by a header or by the parameter {@code _method} of its query. Whether the
 * application listens is not known here, so a rule for such a method counts the request too. The body is not read: that is
 * the application's, and comes after the limit. Immutable.
 */
final class ClaimedMethods {
    private static final List<String> HEADERS = List.of("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override");
    private static final String PARAMETER = "_method";
    private static final List<String> FORMS = List.of("application/x-www-form-urlencoded", "multipart/form-data");
    private static final int MOST = 16;
    private static final int LONGEST = 64;

    /** A claim that can be any method: how the application would read it is not known. */
    private static final String ANY = "*";

    /** What any application could trim: spaces of all kinds and control characters. */
    private static final Pattern BLANK_ENDS = Pattern.compile(
            "^[\\p{javaWhitespace}\\p{javaSpaceChar}\\p{Cc}]+|" + "[\\p{javaWhitespace}\\p{javaSpaceChar}\\p{Cc}]+\\z");

    private static final ClaimedMethods NONE = new ClaimedMethods(Set.of(), false);

    private final Set<String> methods;
    private final boolean any;

    private ClaimedMethods(Set<String> methods, boolean any) {
        this.methods = methods;
        this.any = any;
    }

    /**
     * What the request claims.
     *
     * @param method of the request, in upper case
     */
    static ClaimedMethods of(HttpServletRequest request, String method, MethodOverride mode) {
        if (mode == MethodOverride.NONE || !method.equals("POST")) {
            return NONE;
        }
        if (mode == MethodOverride.FORMS && isForm(request.getContentType())) {
            return new ClaimedMethods(Set.of(), true);
        }
        Set<String> claimed = declared(request);
        // No honest client claims many methods. Which one the application takes is not known, so it may be any.
        return new ClaimedMethods(claimed, claimed.size() > MOST || claimed.contains(ANY));
    }

    /** Whether the request, of any method, has a header or a query parameter that claims one, be it empty. */
    static boolean areDeclared(HttpServletRequest request, MethodOverride mode) {
        return mode != MethodOverride.NONE && !declared(request).isEmpty();
    }

    private static Set<String> declared(HttpServletRequest request) {
        Set<String> claimed = new HashSet<>();
        for (String header : HEADERS) {
            Enumeration<String> values = request.getHeaders(header);
            while (values != null && values.hasMoreElements() && claimed.size() <= MOST) {
                claim(values.nextElement(), claimed);
            }
        }
        readQuery(request, claimed);
        return claimed;
    }

    /** Whether one of the methods is claimed; HEAD is GET, as with real ones. */
    boolean claim(Set<String> ofRule) {
        return any
                || (!methods.isEmpty()
                        && (!Collections.disjoint(methods, ofRule)
                                || (methods.contains("HEAD") && ofRule.contains("GET"))));
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

    private static boolean isForm(@Nullable String contentType) {
        String type = contentType == null ? "" : contentType.split(";", 2)[0].strip();
        return FORMS.stream().anyMatch(type::equalsIgnoreCase);
    }

    private static void readQuery(HttpServletRequest request, Set<String> claimed) {
        String query = request.getQueryString();
        Charset charset = query == null || query.indexOf('%') < 0 ? StandardCharsets.UTF_8 : RequestCharset.of(request);
        boolean reread = RequestCharset.rereads(query, charset);
        int start = 0;
        while (query != null && start < query.length() && claimed.size() <= MOST) {
            int end = query.indexOf('&', start);
            end = end < 0 ? query.length() : end;
            // Not a search in the rest of the query: very many parameters would make that slow.
            String parameter = query.substring(start, end);
            int equals = parameter.indexOf('=');
            if (equals >= 0 && isParameter(parameter.substring(0, equals), reread, charset)) {
                claimEncoded(parameter.substring(equals + 1), reread, charset, claimed);
            }
            start = end + 1;
        }
    }

    private static boolean isParameter(String name, boolean reread, Charset charset) {
        // Encoded in UTF-8, each character is three. What is longer than that is not decoded. Other charsets have
        // sequences that mean nothing, as many as a client likes.
        if (name.length() <= 3 * PARAMETER.length() && PercentText.decoded(name).equals(PARAMETER)) {
            return true;
        }
        return reread
                && (PercentText.decoded(name, charset).equals(PARAMETER)
                        || PercentText.decodedWhole(name, charset).equals(PARAMETER));
    }

    /** What the value says in any way of decoding. */
    private static void claimEncoded(String value, boolean reread, Charset charset, Set<String> claimed) {
        if (value.length() > 3 * LONGEST) {
            claim(value, claimed);
            return;
        }
        String spaced = value.replace('+', ' ');
        claim(PercentText.decoded(spaced), claimed);
        if (reread) {
            claim(PercentText.decoded(spaced, charset), claimed);
            claim(PercentText.decodedWhole(spaced, charset), claimed);
        }
    }
}
