package io.limiter.http.internal.match;

/** The two readings of a raw path, for tests of other packages. */
public final class RawPaths {
    private RawPaths() {}

    public static String whole(String raw) {
        return RequestPaths.whole(raw, PercentText::decoded, false);
    }

    public static String bySegment(String raw) {
        return RequestPaths.bySegment(raw, PercentText::decoded, false);
    }
}
