package io.limiter.servlet.match;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What the path of a request line means (Jakarta Servlet 6.0 section 3.5.2): segments without their parameters, decoded
 * once, without empty ones and without dots. Where a slash or a backslash is encoded, containers and applications differ,
 * so there are two readings; and each of them again with its dots, because there are frameworks that match the request
 * line and do not resolve them. Nothing is refused here; that is the container's business.
 */
final class RawPath {
    private RawPath() {}

    /**
     * An encoded slash, and any backslash, separates segments; spaces and control characters at their ends are nothing.
     *
     * @param dots whether {@code .} and {@code ..} are segments as others
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
            // Not a search of its own in the rest of the path: very many slashes would make that slow.
            String segment = raw.substring(start, end);
            int parameter = segment.indexOf(';');
            segments.add(parameter < 0 ? segment : segment.substring(0, parameter));
            start = end + 1;
        }
        return segments;
    }

    /** Put together without empty segments, and unless dots are segments as others with them followed. */
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
