package io.limiter.servlet.match;

import io.limiter.DiagnosticLog;
import io.limiter.Throttle;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The paths that a request could mean inside the application. The container's own comes first; nearly always it is the
 * only one. If the request line has a different spelling, its meanings are readings too: a container can be configured
 * to accept encoded slashes, a framework may match the raw text without its parameters but with its dots (Spring's
 * {@code PathPattern}), another decodes it with the charset that the client names (Spring's {@code UrlPathHelper}), and
 * a welcome file replaces its folder. A rule that matches any reading counts; so none of these spellings bypasses it.
 * Thread-safe.
 */
public final class RequestPaths {
    private static final Logger LOG = DiagnosticLog.of(RequestPaths.class);

    /** Resolved, and as ordinary segments; of the prefix too, because Tomcat returns it as it was sent. */
    private static final boolean[] DOTS = {false, true};

    private final Throttle refusedLog = Throttle.hourly();

    /** Reads paths. */
    public RequestPaths() {}

    /**
     * The path that the container routes by, decoded, without dots and path parameters; after it the other ones that the
     * request line could mean. The raw URI has many spellings for one servlet ({@code /vote}, {@code /%76ote},
     * {@code /vote;x}), each of which would bypass a rule.
     */
    public List<String> of(HttpServletRequest request) {
        String raw = Objects.requireNonNullElse(request.getRequestURI(), "");
        String prefix = Objects.requireNonNullElse(request.getContextPath(), "");
        String routed;
        try {
            String info = Objects.requireNonNullElse(request.getPathInfo(), "");
            routed = Objects.requireNonNullElse(request.getServletPath(), "");
            routed = routed.isEmpty() ? info : routed.concat(info);
        } catch (IllegalArgumentException ambiguous) {
            // Jetty, configured to accept ambiguous paths, refuses to decode them.
            if (refusedLog.tryPass()) {
                LOG.warn("RL-323 the container accepts ambiguous paths and refuses to decode them; rules are"
                        + " matched with all their possible meanings");
            }
            routed = "";
        }
        if (isPlain(raw, prefix, routed)) {
            return List.of(routed);
        }
        List<String> readings = new ArrayList<>(5);
        readings.add(routed);
        addDecoded(prefix, raw, PercentText::decoded, readings);
        addOfCharset(request, prefix, raw, readings);
        return readings;
    }

    /**
     * The path that a container with default settings routes by; null if the path of a request line is outside of the
     * application.
     */
    public static @Nullable String routed(String prefix, String raw) {
        List<String> inside = new ArrayList<>(1);
        UnaryOperator<String> decoder = PercentText::decoded;
        addInside(RawPath.whole(prefix, decoder, false), RawPath.bySegment(raw, decoder, false), inside);
        return inside.isEmpty() ? null : inside.get(0);
    }

    private static void addDecoded(String prefix, String raw, UnaryOperator<String> decoder, List<String> readings) {
        for (boolean dots : DOTS) {
            String inside = RawPath.whole(prefix, decoder, dots);
            addInside(inside, RawPath.whole(raw, decoder, dots), readings);
            addInside(inside, RawPath.bySegment(raw, decoder, dots), readings);
        }
    }

    /** The client chooses the charset, so its readings come in addition, and each way of decoding has its own. */
    private static void addOfCharset(HttpServletRequest request, String prefix, String raw, List<String> readings) {
        Charset charset = RequestCharset.rereading(request, raw);
        if (charset == null) {
            return;
        }
        UnaryOperator<String> whole = text -> PercentText.decodedWhole(text, charset);
        addDecoded(prefix, raw, text -> PercentText.decoded(text, charset), readings);
        addDecoded(prefix, raw, whole, readings);
        for (boolean dots : DOTS) {
            addInside(RawPath.inOnePiece(prefix, whole, dots), RawPath.inOnePiece(raw, whole, dots), readings);
        }
    }

    /** Whether the path was sent exactly as the container routes by it, and has only one reading. */
    private static boolean isPlain(String raw, String prefix, String routed) {
        return raw.length() == prefix.length() + routed.length()
                && raw.startsWith(prefix)
                && raw.startsWith(routed, prefix.length())
                && raw.indexOf('%') < 0
                && raw.indexOf(';') < 0
                && raw.indexOf('\\') < 0
                && !raw.contains("/.");
    }

    /** Adds the part of a path inside the application, if there is one. */
    private static void addInside(String prefix, String path, List<String> readings) {
        boolean root = prefix.equals("/");
        if (!root && !(path + "/").startsWith(prefix + "/")) {
            return;
        }
        String inside = root ? path : path.substring(prefix.length());
        if (!readings.contains(inside)) {
            readings.add(inside);
        }
    }
}
