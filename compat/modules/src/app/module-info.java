/** Somebody's application. It is open, for the proxies of Spring. */
open module app {
    requires io.limiter.core;
    requires io.limiter.servlet;
    requires io.limiter.spring;
    requires io.limiter.grpc;
    requires io.limiter.webflux;
    requires org.apache.tomcat.embed.core;
    requires spring.beans;
    requires spring.context;
    requires spring.core;
    requires java.net.http;
}
