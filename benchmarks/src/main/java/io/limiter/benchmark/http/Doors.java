package io.limiter.benchmark.http;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.limiter.application.Limiter;
import io.limiter.grpc.RateLimitServerInterceptor;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.webflux.RateLimitWebFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.modeler.Registry;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServer;

/** A server for each door, that answers two bytes; bare, or with the door of a limiter. */
final class Doors {
    static final String TOMCAT = "tomcat";
    static final String WEBFLUX = "webflux";
    static final String GRPC = "grpc";

    /** What each request is answered with. */
    static final byte[] BODY = "ok".getBytes(StandardCharsets.US_ASCII);

    /** The method of gRPC that clients call. */
    static final MethodDescriptor<byte[], byte[]> GET_THINGS = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setFullMethodName("api/things")
            .setType(MethodDescriptor.MethodType.UNARY)
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();

    private Doors() {}

    /**
     * Starts a server on a free port of this machine; returns the port.
     *
     * @param filter before it, of that name: {@code bare} for none, {@code constants}, or {@code limiter}
     * @param limiter of that
     */
    static int start(String server, String filter, Supplier<Limiter> limiter) throws Exception {
        boolean isLimited = filter.equals("limiter");
        Map<String, String> fields = filter.equals("constants") ? Filters.CONSTANTS : Map.of();
        return switch (server) {
            case TOMCAT -> tomcat(isLimited ? new RateLimitFilter(limiter.get()) : Filters.constants(fields));
            case WEBFLUX ->
                webFlux(isLimited ? RateLimitWebFilter.builder(limiter.get()).build() : constants(fields));
            case GRPC -> grpc(isLimited ? limiter.get() : null);
            default -> throw new IllegalArgumentException("there is no server " + server);
        };
    }

    private static @Nullable WebFilter constants(Map<String, String> fields) {
        return fields.isEmpty()
                ? null
                : (exchange, chain) -> {
                    fields.forEach(exchange.getResponse().getHeaders()::set);
                    return chain.filter(exchange);
                };
    }

    private static int tomcat(@Nullable Filter before) throws Exception {
        File directory = Files.createDirectories(
                        Path.of("target", "tomcat-" + ProcessHandle.current().pid())
                                .toAbsolutePath())
                .toFile();
        // Two that start at once would give one name to their beans.
        Registry.disableRegistry();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        // Else it closes a connection after 100.
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("", directory.toString());
        if (before != null) {
            FilterDef filter = new FilterDef();
            filter.setFilterName("limiter");
            filter.setFilter(before);
            filter.setAsyncSupported("true");
            context.addFilterDef(filter);
            FilterMap map = new FilterMap();
            map.setFilterName("limiter");
            map.addURLPattern("/*");
            context.addFilterMap(map);
        }
        HttpServlet things = new TwoBytes();
        Tomcat.addServlet(context, "things", things).setAsyncSupported(true);
        context.addServletMappingDecoded("/", "things");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    private static int webFlux(@Nullable WebFilter before) {
        return HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle(new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(exchange -> {
                            ServerHttpResponse response = exchange.getResponse();
                            response.getHeaders().setContentLength(BODY.length);
                            return response.writeWith(Mono.fromSupplier(
                                    () -> response.bufferFactory().wrap(BODY)));
                        })
                        .filters(all -> Stream.ofNullable(before).forEach(all::add))
                        .build()))
                .bindNow()
                .port();
    }

    private static int grpc(@Nullable Limiter limiter) throws IOException {
        ServerBuilder<?> server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(ServerServiceDefinition.builder("api")
                        .addMethod(GET_THINGS, ServerCalls.asyncUnaryCall((message, observer) -> {
                            observer.onNext(BODY);
                            observer.onCompleted();
                        }))
                        .build());
        if (limiter != null) {
            server.intercept(RateLimitServerInterceptor.builder(limiter).build());
        }
        return server.build().start().getPort();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
