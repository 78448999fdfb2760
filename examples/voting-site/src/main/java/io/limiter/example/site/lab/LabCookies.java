package io.limiter.example.site.lab;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.web.util.WebUtils;

/**
 * Cookies that the browser sends to every instance: a random number that identifies the visitor, and the
 * limits that the visitor has set.
 */
final class LabCookies {
    private static final String VISITOR = "lab-visitor";
    private static final String LIMITS = "lab-limits";
    private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
    private static final Duration AGE = Duration.ofDays(7);
    private static final SecureRandom RANDOM = new SecureRandom();

    private LabCookies() {}

    static Optional<String> visitor(HttpServletRequest request) {
        return Optional.ofNullable(value(request, VISITOR))
                .filter(id -> ID.matcher(id).matches());
    }

    static String newVisitor(HttpServletRequest request, HttpServletResponse response) {
        byte[] id = new byte[16];
        RANDOM.nextBytes(id);
        String text = HexFormat.of().formatHex(id);
        set(request, response, VISITOR, text);
        return text;
    }

    static Optional<LabLimits> limits(HttpServletRequest request) {
        return LabLimits.parse(value(request, LIMITS));
    }

    static void setLimits(HttpServletRequest request, HttpServletResponse response, LabLimits limits) {
        set(request, response, LIMITS, limits.text());
    }

    private static @Nullable String value(HttpServletRequest request, String name) {
        Cookie cookie = WebUtils.getCookie(request, name);
        return cookie == null ? null : cookie.getValue();
    }

    private static void set(HttpServletRequest request, HttpServletResponse response, String name, String value) {
        response.addHeader(
                HttpHeaders.SET_COOKIE,
                ResponseCookie.from(name, value)
                        .path("/")
                        .httpOnly(true)
                        .sameSite("Strict")
                        .secure(request.isSecure())
                        .maxAge(AGE)
                        .build()
                        .toString());
    }
}
