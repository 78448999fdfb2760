package io.limiter.http.internal.match;

import io.limiter.http.internal.request.Request;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The paths that a request could mean inside the application. The container's own comes first; nearly always it is the
 * only one. If the request line has a different spelling, its meanings are readings too: a container can be configured
 * to accept encoded slashes, a framework may match the raw text without its parameters but with its dots (Spring's
 * {@code PathPattern}), another decodes it with the charset that the client names (Spring's {@code UrlPathHelper}), and
 * a welcome file replaces its folder. A rule that matches any reading counts; so none of these spellings bypasses it.
 * Thread-safe.
 */
public final class RequestPaths {
    /** Resolved, and as ordinary segments; of the prefix too, because Tomcat returns it as it was sent. */
    private static final boolean[] DOTS = {false, true};

    private RequestPaths() {}

    /**
     * The path that the container routes by, decoded, without dots and path parameters; after it the other ones that the
     * request line could mean. The raw URI has many spellings for one servlet ({@code /vote}, {@code /%76ote},
     * {@code /vote;x}), each of which would bypass a rule.
     */
    public static List<String> of(Request request) {
        String raw = request.rawPath();
        String prefix = request.prefix();
        String routed = Objects.requireNonNullElse(request.path(), "");
        boolean isPrefixRouted = request.isPrefixRouted();
        if (!isPrefixRouted && isPlain(raw, prefix, routed)) {
            return List.of(routed);
        }
        List<String> readings = new ArrayList<>(5);
        readings.add(routed);
        addDecoded(prefix, raw, PercentText::decoded, readings);
        addOfCharset(request, prefix, raw, readings);
        if (isPrefixRouted) {
            addDecoded("", raw, PercentText::decoded, readings);
        }
        return readings;
    }

    /**
     * The path that a container with default settings routes by; null if the path of a request line is outside of the
     * application.
     */
    public static @Nullable String routed(String prefix, String raw) {
        if (raw.startsWith(prefix) && raw.startsWith("/", prefix.length()) && isOrdinary(raw)) {
            return raw.substring(prefix.length());
        }
        List<String> inside = new ArrayList<>(1);
        UnaryOperator<String> decoder = PercentText::decoded;
        addInside(whole(prefix, decoder, false), bySegment(raw, decoder, false), inside);
        return inside.isEmpty() ? null : inside.get(0);
    }

    private static void addDecoded(String prefix, String raw, UnaryOperator<String> decoder, List<String> readings) {
        for (boolean dots : DOTS) {
            String inside = whole(prefix, decoder, dots);
            addInside(inside, whole(raw, decoder, dots), readings);
            addInside(inside, bySegment(raw, decoder, dots), readings);
        }
    }

    /** The client chooses the charset, so its readings come in addition, and each way of decoding has its own. */
    private static void addOfCharset(Request request, String prefix, String raw, List<String> readings) {
        Charset charset = PercentText.rereading(request, raw);
        if (charset == null) {
            return;
        }
        UnaryOperator<String> whole = text -> PercentText.decodedWhole(text, charset);
        addDecoded(prefix, raw, text -> PercentText.decoded(text, charset), readings);
        addDecoded(prefix, raw, whole, readings);
        for (boolean dots : DOTS) {
            addInside(inOnePiece(prefix, whole, dots), inOnePiece(raw, whole, dots), readings);
        }
    }

    /** Whether the path was sent exactly as the container routes by it, and has only one reading. */
    private static boolean isPlain(String raw, String prefix, String routed) {
        return raw.length() == prefix.length() + routed.length()
                && raw.startsWith(prefix)
                && raw.startsWith(routed, prefix.length())
                && isUnambiguous(raw);
    }

    private static boolean isUnambiguous(String raw) {
        return raw.indexOf('%') < 0 && raw.indexOf(';') < 0 && raw.indexOf('\\') < 0 && !raw.contains("/.");
    }

    /** Whether it is routed as it was sent. Spaces at the ends of segments are not. */
    private static boolean isOrdinary(String raw) {
        // No stream: called for each request of WebFlux.
        for (int i = 0; i < raw.length(); i++) {
            if (raw.charAt(i) <= ' ') {
                return false;
            }
        }
        return isUnambiguous(raw) && !raw.contains("//");
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

    /**
     * The meaning of the path of a request line (Jakarta Servlet 6.0 section 3.5.2): segments without their parameters,
     * decoded once, without empty ones and without dots. Containers and applications differ in their treatment of encoded
     * slashes and backslashes, so there are two readings; and each of them again with its dots, because some frameworks
     * match the request line and do not resolve them. Refusing paths is left to the container.
     *
     * <p>Here an encoded slash, and any backslash, separates segments; spaces and control characters at their ends are
     * ignored.
     *
     * @param dots whether {@code .} and {@code ..} are ordinary segments
     */
    static String whole(String raw, UnaryOperator<String> decoder, boolean dots) {
        return joined(wholeSegments(decoded(raw, decoder)), dots);
    }

    /** An encoded slash, or backslash, belongs to its segment, and stays encoded. */
    static String bySegment(String raw, UnaryOperator<String> decoder, boolean dots) {
        String[] segments = decoded(raw, decoder).stream()
                .map(segment -> segment.replace("/", "%2F").replace("\\", "%5C"))
                .toArray(String[]::new);
        return joined(segments, dots);
    }

    /** Decoded in one piece, its slashes included, after its parameters are cut off. */
    static String inOnePiece(String raw, UnaryOperator<String> decoder, boolean dots) {
        return joined(wholeSegments(List.of(decoder.apply(String.join("/", segments(raw))))), dots);
    }

    private static List<String> decoded(String raw, UnaryOperator<String> decoder) {
        List<String> segments = segments(raw);
        segments.replaceAll(decoder);
        return segments;
    }

    private static String[] wholeSegments(List<String> decoded) {
        StringBuilder plain = new StringBuilder();
        for (String segment : decoded) {
            plain.append('/').append(segment.replace('\\', '/'));
        }
        return Arrays.stream(plain.toString().split("/", -1)).map(String::trim).toArray(String[]::new);
    }

    /** Between the slashes, without parameters. */
    private static List<String> segments(String raw) {
        List<String> segments = new ArrayList<>();
        int start = 0;
        while (start <= raw.length()) {
            int slash = raw.indexOf('/', start);
            int end = slash < 0 ? raw.length() : slash;
            // Not a separate search in the rest of the path, which many slashes would make slow.
            String segment = raw.substring(start, end);
            int parameter = segment.indexOf(';');
            segments.add(parameter < 0 ? segment : segment.substring(0, parameter));
            start = end + 1;
        }
        return segments;
    }

    /** Joined without empty segments and, unless dots are ordinary segments, with dots resolved. */
    private static String joined(String[] segments, boolean dots) {
        StringBuilder path = new StringBuilder();
        boolean folder = false;
        for (String segment : segments) {
            boolean up = !dots && segment.equals("..");
            folder = up || segment.isEmpty() || (!dots && segment.equals("."));
            if (up) {
                path.setLength(Math.max(0, path.lastIndexOf("/")));
            } else if (!folder) {
                path.append('/').append(segment);
            }
        }
        return folder || path.isEmpty() ? path.append('/').toString() : path.toString();
    }
}
