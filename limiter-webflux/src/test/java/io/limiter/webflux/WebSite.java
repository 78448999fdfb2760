package io.limiter.webflux;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.kit.Configs;
import io.limiter.kit.door.Door;
import io.limiter.kit.door.RunningDoor;
import io.limiter.kit.door.Tls;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.modeler.Registry;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.TomcatHttpHandlerAdapter;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/** A site of WebFlux on a real server, without a Spring context. */
enum WebSite implements Door {
    NETTY {
        @Override
        Server serve(Path directory, HttpHandler handler) {
            return serve(HttpServer.create(), handler);
        }
    },
    /** HTTP/2 over TLS. */
    SECURE_NETTY {
        @Override
        Server serve(Path directory, HttpHandler handler) throws Exception {
            return serve(secure(HttpServer.create()), handler);
        }
    },
    TOMCAT {
        @Override
        Server serve(Path directory, HttpHandler handler) throws Exception {
            // Two that start at once would give one name to their beans.
            Registry.disableRegistry();
            Tomcat tomcat = new Tomcat();
            tomcat.setBaseDir(directory.toString());
            tomcat.setPort(0);
            Context context = tomcat.addContext("", directory.toString());
            context.setParentClassLoader(WebSite.class.getClassLoader());
            Tomcat.addServlet(context, "webflux", new TomcatHttpHandlerAdapter(handler))
                    .setAsyncSupported(true);
            context.addServletMappingDecoded("/", "webflux");
            tomcat.start();
            return new Server(tomcat.getConnector().getLocalPort(), () -> {
                tomcat.stop();
                tomcat.destroy();
            });
        }
    };

    /** A running one. */
    record Server(int port, AutoCloseable stop) implements AutoCloseable {
        @Override
        public void close() throws Exception {
            stop.close();
        }
    }

    /** Serves what a handler answers, on a free port. */
    abstract Server serve(Path directory, HttpHandler handler) throws Exception;

    /** The same on a server of Netty. */
    static Server serve(HttpServer server, HttpHandler handler) {
        DisposableServer running = server.bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .handle(new ReactorHttpHandlerAdapter(handler))
                .bindNow();
        return new Server(running.port(), () -> running.disposeNow(Duration.ofSeconds(60)));
    }

    /** A server of HTTP/2 and HTTP/1.1 over TLS. */
    static HttpServer secure(HttpServer server) throws Exception {
        Http2SslContextSpec keys = Http2SslContextSpec.forServer(Tls.keys());
        return server.protocol(HttpProtocol.H2, HttpProtocol.HTTP11).secure(tls -> tls.sslContext(keys));
    }

    /** A handler with these filters, in this order. */
    static HttpHandler handler(WebHandler application, WebFilter... filters) {
        List<WebFilter> all = new ArrayList<>(List.of(filters));
        return WebHttpHandlerBuilder.webHandler(application)
                .filters(own -> own.addAll(all))
                .httpHandlerDecorator(RateLimitWebFilter::showingReceived)
                .build();
    }

    static RateLimitWebFilter filter(RateLimiter limiter, String rules) {
        return RateLimitWebFilter.builder(Limiter.of(Configs.of(rules), limiter))
                .build();
    }

    @Override
    public Running start(Path directory, RateLimiter limiter, String rules, App app) throws Exception {
        RateLimitWebFilter filter = filter(limiter, rules);
        Server server = serve(directory, handler(exchange -> answer(app, exchange), WebSite::disguise, filter));
        return new RunningDoor(server.port(), filter::stopHolding, () -> {
            server.close();
            filter.close();
        });
    }

    /** A request may say whose it is. */
    private static Mono<Void> disguise(ServerWebExchange exchange, WebFilterChain chain) {
        String address = header(exchange, "Test-Address");
        String user = header(exchange, "Test-User");
        ServerWebExchange.Builder changed = exchange.mutate();
        if (address != null) {
            exchange.getAttributes().put("io.limiter.peer", address);
            ServerHttpRequest request = exchange.getRequest()
                    .mutate()
                    .remoteAddress(InetSocketAddress.createUnresolved(address, 1))
                    .build();
            changed.request(request);
        }
        if (user != null) {
            changed.principal(
                    Mono.just(new TestingAuthenticationToken(user, "", "ROLE_" + header(exchange, "Test-Role"))));
        }
        return chain.filter(changed.build());
    }

    private static @org.jspecify.annotations.Nullable String header(ServerWebExchange exchange, String name) {
        return exchange.getRequest().getHeaders().getFirst(name);
    }

    private static Mono<Void> answer(Door.App app, ServerWebExchange exchange) {
        ServerHttpRequest request = exchange.getRequest();
        Door.Reply reply;
        try {
            reply = app.reply(new Door.Asked(
                    request.getMethod().name(),
                    path -> PathPatternParser.defaultInstance
                            .parse(path)
                            .matches(request.getPath().pathWithinApplication()),
                    name -> header(exchange, name),
                    name -> request.getQueryParams().getFirst(name)));
        } catch (Exception failed) {
            return Mono.error(failed);
        }
        Mono<Void> written = Mono.fromRunnable(() -> {
            exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(reply.status));
            reply.fields.forEach(exchange.getResponse().getHeaders()::set);
            exchange.getAttributes().putAll(reply.attributes);
        });
        return reply.end == null ? written : Mono.fromFuture(reply.end, true).then(written);
    }
}
