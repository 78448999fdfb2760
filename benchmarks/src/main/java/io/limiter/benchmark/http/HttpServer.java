package io.limiter.benchmark.http;

import io.limiter.benchmark.ProcessCpu;
import io.limiter.benchmark.redis.Workload;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.io.BufferedReader;
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
import org.jspecify.annotations.Nullable;

/** The measured JVM: a Jetty with a filter, or the server of a door. It answers two bytes. */
public final class HttpServer {
    private HttpServer() {}

    private static int jetty(@Nullable Filter filter) throws Exception {
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
        return connector.getLocalPort();
    }

    /**
     * Prints its port, and then for each line that it reads what it has used: nanoseconds of CPU time, milliseconds of garbage
     * collection. If the line is {@code collect}, it collects garbage first. It ends with its input.
     *
     * @param args filter, or a server and what is before it ({@code grpc@bare}), workload, number of rules, form of the headers, address of Redis
     */
    public static void child(String[] args) throws Exception {
        Workload workload = Workload.of(args[1]);
        int rules = Integer.parseInt(args[2]);
        String[] door = args[0].split("@", -1);
        System.out.println(
                door.length == 1
                        ? jetty(Filters.of(args[0], workload, rules, args[3], args[4]))
                        : Doors.start(door[0], door[1], () -> Filters.limiter(workload, rules, args[3], false)));
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
}
