package io.limiter.compat.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Dispatches a request to another path of this servlet, in the way named in its path. */
@WebServlet(
        urlPatterns = {
            "/forward/*",
            "/include/*",
            "/async/*",
            "/error/*",
            "/front",
            "/behind",
            "/closed/*",
            "/foo/*",
            "/bar",
            "/x"
        },
        asyncSupported = true)
public final class DispatchServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            response.getOutputStream().print(request.getDispatcherType().name());
            return;
        }
        String path = request.getServletPath() + (request.getPathInfo() == null ? "" : request.getPathInfo());
        switch (path) {
            case "/forward/in" -> request.getRequestDispatcher("/forward/out").forward(request, response);
            case "/front" -> request.getRequestDispatcher("/behind").forward(request, response);
            case "/include/in" -> {
                request.getRequestDispatcher("/include/out").include(request, response);
                request.getRequestDispatcher("/include/out").include(request, response);
            }
            case "/async/in" -> request.startAsync().dispatch("/async/out");
            case "/error/in" -> response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            default -> response.getOutputStream().print("REQUEST");
        }
    }
}
