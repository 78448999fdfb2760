package io.limiter.spring.boot.internal;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.BeforeTheDoor;
import io.limiter.http.internal.DoorBuilder;
import io.limiter.spring.internal.web.WebBeans;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.ClassUtils;

/** Where the two filters of a web application are, of servlets or of WebFlux, and what does not work at these places. */
public final class FilterPlaces {
    /** Whether the application has the filters. */
    public static final String ENABLED = "limiter.filter.enabled";

    /** The order of the filter before authentication. */
    public static final String ORDER = "limiter.filter.order";

    /** The order of the filter after authentication. */
    public static final String USER_ORDER = "limiter.filter.user-order";

    /** The names of the filters before authentication. Their rules may name classes. */
    public static final List<String> FILTERS =
            List.of("io.limiter.spring.rateLimitFilter", "io.limiter.webflux.rateLimitFilter");

    /**
     * After the filters that every answer needs (encoding, observation, a session of Spring Session), and before those that
     * read bodies: HiddenHttpMethodFilter at -10000, FormContentFilter at -9900.
     */
    public static final int FIRST = -10_100;

    /** Of Tomcat: the other web servers leave the headers as they are. */
    public static final String VALVE = "org.apache.catalina.valves.RemoteIpValve";

    private static final Logger LOG = LoggerFactory.getLogger(FilterPlaces.class);

    private FilterPlaces() {}

    /**
     * The order of the filter before authentication.
     *
     * @param security the order of Spring Security's filter
     */
    public static int first(ConfigurableEnvironment environment, int security) {
        return environment.getProperty(ORDER, Integer.class, security <= FIRST ? security - 1 : FIRST);
    }

    /**
     * The order of the filter after authentication.
     *
     * @param security the order of Spring Security's filter
     */
    public static int afterAuthentication(ConfigurableEnvironment environment, int security) {
        return environment.getProperty(USER_ORDER, Integer.class, security + 1);
    }

    /** Whether there is a bean of a class, which need not be there. */
    public static boolean has(ListableBeanFactory beans, String type) {
        return ClassUtils.isPresent(type, null) && !WebBeans.isMissing(ClassUtils.resolveClassName(type, null), beans);
    }

    /** A builder of a filter with what answers denied requests, and with other classes, of the application. */
    public static <H, B extends DoorBuilder<?, H, B>> B withBeans(
            B builder, Class<H> handler, ListableBeanFactory beans) {
        return builder.rejectionHandler(beans.getBeanProvider(handler).getIfAvailable())
                .instances(type -> beans.getBeanProvider(type).getIfAvailable());
    }

    /**
     * Checks for what replaces the addresses of clients, in this and each later configuration, and reports it.
     *
     * @param isTomcat whether the server may be Tomcat, which removes the header that it has read
     * @param ofFramework what does it in the application, as an operator calls it, if this is known now; null for nothing
     * @throws IllegalArgumentException if the configuration depends on these addresses
     */
    public static void checkAddresses(
            Limiter limiter, ConfigurableEnvironment environment, boolean isTomcat, @Nullable String ofFramework) {
        limiter.derive(config -> replaced(config, environment, isTomcat, ofFramework))
                .reporting(LOG::warn, found -> found);
    }

    /** The web server does it, or a component of the application. */
    private static List<String> replaced(
            LimiterConfig config, ConfigurableEnvironment environment, boolean isTomcat, @Nullable String ofFramework) {
        CloudPlatform platform = CloudPlatform.getActive(environment);
        boolean isOfPlatform = platform != null && platform.isUsingForwardHeaders();
        String strategy = environment.getProperty("server.forward-headers-strategy", isOfPlatform ? "native" : "");
        boolean isValve = Stream.of("remote-ip-header", "protocol-header")
                .anyMatch(header -> environment.containsProperty("server.tomcat.remoteip." + header));
        boolean isOfServer = strategy.equalsIgnoreCase("native") || isValve;
        String ofServer = isValve
                ? "server.tomcat.remoteip"
                : "server.forward-headers-strategy = native"
                        + (isOfPlatform ? " (the default on " + platform + ")" : "");
        String by = isOfServer ? ofServer : ofFramework;
        if (by != null) {
            BeforeTheDoor.refuse(config.settings(), by, isOfServer && isTomcat);
            return BeforeTheDoor.findings(config.settings(), by);
        }
        // A servlet filter of the application is found, and reported, when it starts.
        if (strategy.equalsIgnoreCase("framework")) {
            BeforeTheDoor.refuse(config.settings(), "server.forward-headers-strategy = framework", false);
        }
        return List.of();
    }
}
