package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.internal.address.AddressResolver;
import io.limiter.http.internal.request.Request;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.ClientIpSettings.Source;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.catalina.filters.RemoteIpFilter;
import org.apache.catalina.valves.RemoteIpValve;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Components of a container that replace the client's address before the filter, by what a client may have written. */
class ReplacedAddressTest {
    private static final String RULE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1m\n";

    @TempDir
    Path directory;

    private int sites;

    enum By {
        REMOTE_IP_VALVE,
        REMOTE_IP_FILTER,
        FORWARDED_REQUEST_CUSTOMIZER,
        /** Any filter: it hides the header, too. */
        WRAPPER
    }

    private static final class LeftmostAddress extends HttpServletRequestWrapper {
        LeftmostAddress(HttpServletRequest request) {
            super(request);
        }

        @Override
        public String getRemoteAddr() {
            String header = super.getHeader("X-Forwarded-For");
            return header == null ? super.getRemoteAddr() : header.replaceFirst(",.*", "");
        }

        @Override
        public String getHeader(String name) {
            return name.equals("X-Forwarded-For") ? null : super.getHeader(name);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return name.equals("X-Forwarded-For") ? Collections.emptyEnumeration() : super.getHeaders(name);
        }
    }

    private Container start(By by, String settings) {
        Container site = by == By.FORWARDED_REQUEST_CUSTOMIZER
                ? new JettyServer().forwarded()
                : new WebServer(directory.resolve("" + sites++));
        if (by == By.REMOTE_IP_VALVE) {
            ((WebServer) site).context().getPipeline().addValve(new RemoteIpValve());
        } else if (by == By.REMOTE_IP_FILTER) {
            site.filter("remote ip", new RemoteIpFilter());
        } else if (by == By.WRAPPER) {
            site.filter(
                    "wrapper",
                    (request, response, chain) ->
                            chain.doFilter(new LeftmostAddress((HttpServletRequest) request), response));
        }
        return site.filter("limiter", WebServer.limiter(TimeSource.system(), RULE + settings))
                .servlet("/", WebServer.Answer.text("hello"))
                .start();
    }

    private static List<Integer> statuses(Container site, String... forwardedFor) {
        return Stream.of(forwardedFor)
                .map(value -> site.get("/", "X-Forwarded-For", value).statusCode())
                .toList();
    }

    private static final String EXEMPT = "limiter.exempt.addresses = 10.9.0.0/16\n";
    private static final String DENIED = "limiter.deny.addresses = 127.0.0.0/8\n";
    private static final String CONTAINER = "limiter.client-ip.source = container\n";
    private static final String CONNECTION = "limiter.client-ip.source = connection\n";
    private static final String TRUSTED = "limiter.client-ip.trusted-proxies = 127.0.0.1\n";

    /** A filter is seen when the application starts; what the container does is seen at the first request. */
    private Container startOrRefuse(By by, String settings) {
        if (by != By.REMOTE_IP_FILTER) {
            return start(by, settings);
        }
        try (Container site = start(by, settings)) {
            assertEquals(404, site.get("/").statusCode(), "the application has not started");
        }
        return start(By.WRAPPER, settings);
    }

    @ParameterizedTest
    @EnumSource(By.class)
    void anExemptAddressThatTheClientWroteIsCounted(By by) {
        try (LogText log = new LogText();
                Container site = startOrRefuse(by, EXEMPT)) {
            assertEquals(List.of(200, 200, 429, 429), statuses(site, "10.9.1.1", "10.9.1.1", "10.9.1.1", "10.9.1.1"));
            log.has("RL-331");
        }
    }

    @ParameterizedTest
    @EnumSource(By.class)
    void aDeniedPeerCannotWriteItselfAnotherAddress(By by) {
        try (Container site = startOrRefuse(by, DENIED)) {
            assertEquals(List.of(403, 403), statuses(site, "192.0.2.1", "192.0.2.2"));
        }
    }

    @ParameterizedTest
    @EnumSource(By.class)
    void theClientOfAConnectionIsFoundBelowWhatReplacesIt(By by) {
        try (LogText log = new LogText();
                Container site = start(by, CONNECTION + EXEMPT)) {
            assertEquals(List.of(200, 200, 429), statuses(site, "10.9.1.1", "10.9.1.2", "192.0.2.3"));
            log.has(by == By.REMOTE_IP_VALVE ? "RL-333" : "RL-302");
        }
    }

    @ParameterizedTest
    @EnumSource(value = By.class, mode = EnumSource.Mode.EXCLUDE, names = "REMOTE_IP_VALVE")
    void behindATrustedProxyTheLastAddressCounts(By by) {
        try (Container site = start(by, CONNECTION + TRUSTED + EXEMPT)) {
            assertEquals(
                    List.of(200, 200, 429, 200, 200, 200),
                    statuses(
                            site,
                            "10.9.1.1, 192.0.2.1",
                            "10.9.1.2, 192.0.2.1",
                            "10.9.1.3, 192.0.2.1",
                            "192.0.2.1, 10.9.1.1",
                            "192.0.2.1, 10.9.1.1",
                            "192.0.2.1, 10.9.1.1"));
        }
    }

    /** Where the valve has taken the last hop, the rest is what the client wrote. */
    @Test
    void theRestOfAHeaderIsNotRead() {
        try (LogText log = new LogText();
                Container site = start(By.REMOTE_IP_VALVE, CONNECTION + TRUSTED + EXEMPT)) {
            assertEquals(
                    List.of(200, 200, 429),
                    statuses(site, "10.9.1.1, 192.0.2.1", "10.9.1.1, 192.0.2.1", "10.9.1.1, 192.0.2.1"));
            log.has("RL-333");
        }
    }

    @ParameterizedTest
    @EnumSource(By.class)
    void whoSaysSoIsBelieved(By by) {
        try (Container site = start(by, CONTAINER + EXEMPT)) {
            assertEquals(List.of(200, 200, 200), statuses(site, "10.9.1.1", "10.9.1.1", "10.9.1.1"));
            assertEquals(List.of(200, 200, 429), statuses(site, "192.0.2.1", "192.0.2.1", "192.0.2.1"));
        }
    }

    /** Also one who believes the container has no exempt proxy, where the container has not replaced anything. */
    @ParameterizedTest
    @EnumSource(value = By.class, mode = EnumSource.Mode.EXCLUDE, names = "REMOTE_IP_VALVE")
    void anAddressThatIsNotReplacedMayBeThatOfAProxy(By by) {
        try (LogText log = new LogText();
                Container site = start(by, CONTAINER + "limiter.exempt.addresses = loopback\n")) {
            assertEquals(200, site.get("/").statusCode());
            assertEquals(List.of(200, 200, 429), statuses(site, "127.0.0.1", "127.0.0.1", "127.0.0.1"));
            log.has("RL-310");
        }
    }

    @ParameterizedTest
    @EnumSource(By.class)
    void withoutExemptionsItIsAFinding(By by) {
        try (LogText log = new LogText();
                Container site = start(by, "")) {
            assertEquals(List.of(200, 200), statuses(site, "192.0.2.1", "192.0.2.1"));
            log.has(by == By.REMOTE_IP_FILTER ? "RL-330 org.apache.catalina.filters.RemoteIpFilter" : "RL-331");
        }
    }

    @Test
    void aReloadIsRefusedAsAStartIs() {
        try (RateLimiter rateLimiter = RateLimiters.on(InProcessBackend.create());
                Limiter limiter = Limiter.of(WebServer.config(RULE), rateLimiter);
                Container site = new WebServer(directory)
                        .filter("remote ip", new RemoteIpFilter())
                        .filter("limiter", new RateLimitFilter(limiter))
                        .servlet("/", WebServer.Answer.text("hello"))
                        .start()) {
            for (String settings : List.of(EXEMPT, DENIED, "limiter.rules.all.exempt.addresses = 10.9.0.0/16\n")) {
                String text = RULE + settings;
                IllegalArgumentException refused =
                        assertThrows(IllegalArgumentException.class, () -> limiter.replace(WebServer.config(text)));
                assertTrue(refused.getMessage().startsWith("RL-191"), refused.getMessage());
            }
            assertEquals(List.of(200, 200, 429), statuses(site, "10.9.1.1", "10.9.1.1", "10.9.1.1"));
            limiter.replace(WebServer.config(RULE + EXEMPT + CONNECTION));
        }
    }

    /** A direct caller is exempt as before, behind a component that has nothing to do. */
    @ParameterizedTest
    @EnumSource(names = {"FORWARDED_REQUEST_CUSTOMIZER", "WRAPPER"})
    void aDirectCallerIsExempt(By by) {
        try (Container site = start(by, "limiter.exempt.addresses = loopback\n")) {
            assertEquals(List.of(200, 200, 200, 200), site.statuses(4, "/"));
        }
    }

    /** The valve removes a header that names the proxy itself; so its absence shows nothing. */
    @ParameterizedTest
    @EnumSource(Source.class)
    void aHeaderThatTheValveHasRemovedMayHaveComeFromAClient(Source source) {
        try (LogText log = new LogText();
                Container site = start(
                        By.REMOTE_IP_VALVE,
                        "limiter.exempt.addresses = loopback\nlimiter.client-ip.source = " + source)) {
            assertEquals(
                    List.of(200, 200, source == Source.CONTAINER ? 200 : 429),
                    statuses(site, "127.0.0.1", "127.0.0.1", "127.0.0.1"));
        }
    }

    @Test
    void aPeerThatCannotBeReadIsCounted() {
        try (LogText log = new LogText()) {
            AddressResolver clients = AddressResolver.of(
                    WebServer.config(EXEMPT + RULE).settings().clientIp());
            Request request = new ServletHttpRequest((HttpServletRequest) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {HttpServletRequest.class},
                    (proxy, method, arguments) -> method.getName().equals("getRemoteAddr") ? "10.9.1.1" : null));
            assertEquals("10.9.1.1", clients.resolve(request).text());
            assertFalse(clients.isSure(clients.resolve(request), request));
            log.has("RL-332");
        }
    }
}
