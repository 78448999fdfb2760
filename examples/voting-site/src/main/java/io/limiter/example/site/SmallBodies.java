package io.limiter.example.site;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses bodies that are far larger than anything that the page sends: otherwise a list of millions of items would be created
 * before it is checked. A body without a length is refused, too.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 1)
class SmallBodies extends OncePerRequestFilter {
    static final int MOST_BYTES = 16 * 1024;

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (request.getHeader("Transfer-Encoding") != null) {
            response.sendError(HttpServletResponse.SC_LENGTH_REQUIRED);
        } else if (request.getContentLengthLong() > MOST_BYTES) {
            response.sendError(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
        } else {
            chain.doFilter(request, response);
        }
    }
}
