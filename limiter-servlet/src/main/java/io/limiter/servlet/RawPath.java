package io.limiter.servlet;

import java.util.ArrayList;
import java.util.List;

/**
 * What the path of a request line means (Jakarta Servlet 6.0 section 3.5.2): segments without their parameters, decoded
 * once, without empty ones and without dots. Where a slash or a backslash is encoded, containers and applications differ,
 * so there are two readings. Nothing is refused here; that is the container's business.
 */
final class RawPath {
    private RawPath() {}

    /** An encoded slash, and any backslash, separates segments; spaces and control characters at their ends are nothing. */
    static String whole(String raw) {
        StringBuilder plain = new StringBuilder(raw.length());
        for (String segment : segments(raw)) {
            plain.append('/').append(PercentText.decoded(segment).replace('\\', '/'));
        }
        String[] segments = plain.toString().split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            segments[i] = segments[i].trim();
        }
        return resolved(segments);
    }

    /** An encoded slash, or backslash, belongs to its segment, and stays encoded. */
    static String bySegment(String raw) {
        List<String> plain = new ArrayList<>();
        for (String segment : segments(raw)) {
            plain.add(withSlashesEncoded(PercentText.decoded(segment)));
        }
        return resolved(plain.toArray(String[]::new));
    }

    /** Between the slashes, without parameters. */
    private static List<String> segments(String raw) {
        List<String> segments = new ArrayList<>();
        int start = 0;
        while (start <= raw.length()) {
            int slash = raw.indexOf('/', start);
            int end = slash < 0 ? raw.length() : slash;
            int parameter = raw.indexOf(';', start);
            segments.add(raw.substring(start, parameter < 0 || parameter > end ? end : parameter));
            start = end + 1;
        }
        return segments;
    }

    private static String withSlashesEncoded(String segment) {
        return segment.indexOf('/') < 0 && segment.indexOf('\\') < 0
                ? segment
                : segment.replace("/", "%2F").replace("\\", "%5C");
    }

    private static String resolved(String[] segments) {
        StringBuilder path = new StringBuilder();
        boolean folder = false;
        for (String segment : segments) {
            folder = segment.isEmpty() || segment.equals(".") || segment.equals("..");
            if (segment.equals("..")) {
                path.setLength(Math.max(0, path.lastIndexOf("/")));
            } else if (!folder) {
                path.append('/').append(segment);
            }
        }
        return folder || path.isEmpty() ? path.append('/').toString() : path.toString();
    }
}
