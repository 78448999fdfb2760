package io.limiter.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;

/**
 * Finds out whether a request is dispatched for a part of a page, by an INCLUDE or by a FORWARD inside one. Its answer lands
 * inside the page.
 */
final class IncludedPage {
    private IncludedPage() {}

    /**
     * Looks at the requests that the container has wrapped one into another, down to the dispatch that no FORWARD has made.
     * The attribute {@code jakarta.servlet.include.request_uri} is no evidence: Tomcat hides it from the FORWARD, and an
     * application may set it for a real one. A client can set neither. A container that does not wrap has no such
     * exemption, so the FORWARD is charged there.
     */
    static boolean has(ServletRequest request) {
        ServletRequest current = request;
        while (current.getDispatcherType() == DispatcherType.FORWARD
                && current instanceof ServletRequestWrapper outer) {
            current = outer.getRequest();
        }
        return current.getDispatcherType() == DispatcherType.INCLUDE;
    }
}
