package io.limiter.servlet.match;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The meaning of the path of a request line (Jakarta Servlet 6.0 section 3.5.2): segments without their parameters,
 * decoded once, without empty ones and without dots. Containers and applications differ in their treatment of encoded
 * slashes and backslashes, so there are two readings; and each of them again with its dots, because some frameworks
 * match the request line and do not resolve them. Refusing paths is left to the container.
 */
final class RawPath {
    private RawPath() {}

    /**
     * An encoded slash, and any backslash, separates segments; spaces and control characters at their ends are ignored.
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
