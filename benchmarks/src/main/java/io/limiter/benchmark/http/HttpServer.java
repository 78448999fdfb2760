package io.limiter.benchmark.http;

import io.limiter.benchmark.ProcessCpu;
import io.limiter.benchmark.redis.Workload;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** The measured JVM: a Jetty with a filter, and a servlet that answers two bytes. */
public final class HttpServer {
    private static final byte[] BODY = "ok".getBytes(StandardCharsets.US_ASCII);

    private HttpServer() {}

    /**
     * Prints its port, and then for each line that it reads what it has used: nanoseconds of CPU time, milliseconds of garbage
     * collection. If the line is {@code collect}, it collects garbage first. It ends with its input.
     *
     * @param args filter, workload, number of rules, form of the headers, address of Redis
     */
    public static void child(String[] args) throws Exception {
        Filter filter = Filters.of(args[0], Workload.of(args[1]), Integer.parseInt(args[2]), args[3], args[4]);
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        if (filter != null) {
            context.addFilter(new FilterHolder(filter), "/*", EnumSet.of(DispatcherType.REQUEST));
        }
        context.addServlet(new ServletHolder(new TwoBytes()), "/*");
        server.setHandler(context);
        server.start();
        System.out.println(connector.getLocalPort());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("collect")) {
                System.gc();
            }
            long collected = ManagementFactory.getGarbageCollectorMXBeans().stream()
                    .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                    .sum();
            System.out.println(ProcessCpu.nanos() + " " + collected);
        }
    }

    private static final class TwoBytes extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.setContentLength(BODY.length);
            response.getOutputStream().write(BODY);
        }
    }
}
