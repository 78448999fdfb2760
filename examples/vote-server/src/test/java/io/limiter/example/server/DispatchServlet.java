package io.limiter.example.server;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Brings a request to {@code /dispatched} in the way that its path names; there it answers how the request came. */
public final class DispatchServlet extends HttpServlet {
    /** To be put into a {@code web.xml}. */
    static final String IN_WEB_XML = """
            <servlet>
              <servlet-name>dispatch</servlet-name>
              <servlet-class>io.limiter.example.server.DispatchServlet</servlet-class>
              <async-supported>true</async-supported>
            </servlet>
            <servlet-mapping>
              <servlet-name>dispatch</servlet-name>
              <url-pattern>/by/*</url-pattern>
              <url-pattern>/dispatched</url-pattern>
            </servlet-mapping>
            <error-page>
              <error-code>500</error-code>
              <location>/dispatched</location>
            </error-page>
            """;

    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        boolean arrived = request.getDispatcherType() != DispatcherType.REQUEST;
        switch (arrived ? "" : String.valueOf(request.getPathInfo())) {
            case "/forward" -> request.getRequestDispatcher("/dispatched").forward(request, response);
            case "/async" -> request.startAsync().dispatch("/dispatched");
            case "/include" -> request.getRequestDispatcher("/dispatched").include(request, response);
            case "/error" -> response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            default ->
                response.getOutputStream().print(request.getDispatcherType().name());
        }
    }
}
