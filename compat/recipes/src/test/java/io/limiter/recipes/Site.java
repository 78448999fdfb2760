package io.limiter.recipes;

import jakarta.servlet.Servlet;
import java.nio.file.Files;
import java.security.Principal;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.ValveBase;
import org.apache.tomcat.util.modeler.Registry;

/** A Tomcat with one servlet. Its login believes a header. */
final class Site implements AutoCloseable {
    static final String USER = "X-User";

    private final Tomcat tomcat;

    private Site(Tomcat tomcat) {
        this.tomcat = tomcat;
    }

    static Site of(Servlet servlet) throws Exception {
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("recipes").toString());
        tomcat.setPort(0);
        tomcat.getConnector();
        Context context = tomcat.addContext("", null);
        context.getPipeline().addValve(new ValveBase(true) {
            @Override
            public void invoke(Request request, Response response)
                    throws java.io.IOException, jakarta.servlet.ServletException {
                String name = request.getHeader(USER);
                if (name != null) {
                    request.setUserPrincipal((Principal) () -> name);
                }
                getNext().invoke(request, response);
            }
        });
        Wrapper wrapper = Tomcat.addServlet(context, "servlet", servlet);
        wrapper.setAsyncSupported(true);
        wrapper.setLoadOnStartup(1);
        context.addServletMappingDecoded("/*", "servlet");
        context.addServletContainerInitializer(new org.apache.tomcat.websocket.server.WsSci(), null);
        tomcat.start();
        return new Site(tomcat);
    }

    String address(String scheme) {
        return scheme + "://127.0.0.1:" + tomcat.getConnector().getLocalPort();
    }

    @Override
    public void close() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }
}
