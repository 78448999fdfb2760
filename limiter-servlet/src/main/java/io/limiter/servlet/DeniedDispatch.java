package io.limiter.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/**
 * A denied dispatch, and its answer. A handler may answer with a page that the denying rule matches too: by a FORWARD,
 * an asynchronous dispatch, or an error page. Any other dispatch of the request is a new try. Used by the one thread
 * that has the request.
 */
final class DeniedDispatch {
    private List<String> paths;

    /** For the part of the answer that is being decided. */
    private List<String> pathsOfPart = List.of();

    private boolean rejecting;
    private boolean answeredLater;

    DeniedDispatch(List<String> paths) {
        this.paths = paths;
    }

    /** Answers the denial. */
    @FunctionalInterface
    interface Answer {
        void write() throws IOException;
    }

    /** Runs the answer, and treats its dispatches as parts of the answer. */
    void reject(HttpServletRequest request, Answer answer) throws IOException {
        boolean nested = rejecting;
        boolean startedBefore = request.isAsyncStarted();
        rejecting = true;
        try {
            answer.write();
        } finally {
            rejecting = nested;
            answeredLater |= !startedBefore && request.isAsyncStarted();
        }
    }

    /**
     * Whether a dispatch is a part of the answer. Outside of the rejection itself, a dispatch to the denied path is
     * never a part: a handler may hold the request and dispatch it again later.
     */
    boolean isAnsweredBy(HttpServletRequest request, List<String> to) {
        DispatcherType type = request.getDispatcherType();
        if (type == DispatcherType.REQUEST) {
            return false;
        }
        if (rejecting && type == DispatcherType.FORWARD) {
            return true;
        }
        // The container sets the attribute when it dispatches to an error page, which may forward.
        return (answeredLater || request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) != null)
                && to.stream().noneMatch(this::isDenied);
    }

    /** Begins a dispatch that is a part of the answer. If it is not allowed, its path is a denied one too. */
    void beginPart(List<String> to) {
        if (!pathsOfPart.isEmpty()) {
            paths = Stream.concat(paths.stream(), pathsOfPart.stream()).toList();
        }
        pathsOfPart = to;
    }

    void allowPart() {
        pathsOfPart = List.of();
    }

    private boolean isDenied(String path) {
        return Stream.concat(paths.stream(), pathsOfPart.stream())
                .anyMatch(denied -> plain(denied).equalsIgnoreCase(plain(path)));
    }

    /** Without slashes at the end. */
    private static String plain(String path) {
        int end = path.length();
        while (end > 0 && path.charAt(end - 1) == '/') {
            end--;
        }
        return path.substring(0, end);
    }
}
