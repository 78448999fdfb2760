package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.application.Limiter;
import io.limiter.http.internal.address.AddressResolver;
import io.limiter.http.internal.request.Request;
import io.limiter.kit.Backends;
import io.limiter.servlet.internal.ServletHttpRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.filters.RemoteIpFilter;
import org.apache.catalina.valves.RemoteIpValve;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Components of a container that replace the client's address before the filter, by what a client may have written. */
class ReplacedAddressTest extends Served {
    private static final String RULE = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1m\n";

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

    private static final String EXEMPT = "limiter.exempt.addresses = 10.9.0.0/16\n";
    private static final String DENIED = "limiter.deny.addresses = 127.0.0.0/8\n";
    private static final String CONNECTION = "limiter.client-ip.source = connection\n";

    /** A filter is seen when the application starts; what the container does is seen at the first request. */
    private Container startOrRefuse(By by, String settings) {
        boolean isRefused = !settings.contains("source") && !settings.isEmpty();
        if (by != By.REMOTE_IP_FILTER || !isRefused) {
            return start(by, settings);
        }
        try (Container site = start(by, settings)) {
            assertEquals(404, site.get("/").statusCode(), "the application has not started");
        }
        return start(By.WRAPPER, settings);
    }

    /**
     * Who replaces the address, or ALL, or all but one; properties below limiter; the values of X-Forwarded-For of requests one after the other, -
     * without one; their statuses; and what is logged.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ALL | exempt.addresses=10.9.0.0/16 | 10.9.1.1; 10.9.1.1; 10.9.1.1; 10.9.1.1 | 200 200 429 429 | RL-331
            ALL | deny.addresses=127.0.0.0/8 | 192.0.2.1; 192.0.2.2 | 403 403 |
            !REMOTE_IP_VALVE | source=connection exempt.addresses=10.9.0.0/16 | 10.9.1.1; 10.9.1.2; 192.0.2.3 | 200 200 429 | RL-302
            REMOTE_IP_VALVE | source=connection exempt.addresses=10.9.0.0/16 | 10.9.1.1; 10.9.1.2; 192.0.2.3 | 200 200 429 | RL-333
            !REMOTE_IP_VALVE | source=connection trusted-proxies=127.0.0.1 exempt.addresses=10.9.0.0/16 | 10.9.1.1, 192.0.2.1; 10.9.1.2, 192.0.2.1; 10.9.1.3, 192.0.2.1; 192.0.2.1, 10.9.1.1; 192.0.2.1, 10.9.1.1; 192.0.2.1, 10.9.1.1 | 200 200 429 200 200 200 |
            REMOTE_IP_VALVE | source=connection trusted-proxies=127.0.0.1 exempt.addresses=10.9.0.0/16 | 10.9.1.1, 192.0.2.1; 10.9.1.1, 192.0.2.1; 10.9.1.1, 192.0.2.1 | 200 200 429 | RL-333
            ALL | source=container exempt.addresses=10.9.0.0/16 | 10.9.1.1; 10.9.1.1; 10.9.1.1; 192.0.2.1; 192.0.2.1; 192.0.2.1 | 200 200 200 200 200 429 |
            !REMOTE_IP_VALVE | source=container exempt.addresses=loopback | -; 127.0.0.1; 127.0.0.1; 127.0.0.1 | 200 200 200 429 | RL-310
            !REMOTE_IP_FILTER | '' | 192.0.2.1; 192.0.2.1 | 200 200 | RL-331
            REMOTE_IP_FILTER | '' | 192.0.2.1; 192.0.2.1 | 200 200 | RL-330 org.apache.catalina.filters.RemoteIpFilter
            FORWARDED_REQUEST_CUSTOMIZER | exempt.addresses=loopback | -; -; -; - | 200 200 200 200 |
            WRAPPER | exempt.addresses=loopback | -; -; -; - | 200 200 200 200 |
            REMOTE_IP_VALVE | exempt.addresses=loopback | 127.0.0.1; 127.0.0.1; 127.0.0.1 | 200 200 429 |
            REMOTE_IP_VALVE | source=connection exempt.addresses=loopback | 127.0.0.1; 127.0.0.1; 127.0.0.1 | 200 200 429 |
            REMOTE_IP_VALVE | source=container exempt.addresses=loopback | 127.0.0.1; 127.0.0.1; 127.0.0.1 | 200 200 200 |
            """)
    void whatReplacesAnAddressFreesNobody(
            String who, String settings, String forwarded, String statuses, @Nullable String logged) {
        String text = Stream.of(settings.split(" "))
                .filter(setting -> !setting.isEmpty())
                .map(setting -> (setting.contains(".addresses") ? "limiter." : "limiter.client-ip.") + setting + "\n")
                .collect(Collectors.joining());
        for (By by : By.values()) {
            if (!who.equals("ALL") && who.startsWith("!") == who.endsWith(by.name())) {
                continue;
            }
            try (LogText log = new LogText();
                    Container site = startOrRefuse(by, text)) {
                String found = Stream.of(forwarded.split("; "))
                        .map(value -> value.equals("-") ? new String[0] : new String[] {"X-Forwarded-For", value})
                        .map(headers -> "" + site.status("/", headers))
                        .collect(Collectors.joining(" "));
                assertEquals(statuses, found, by.toString());
                if (logged != null) {
                    log.has(logged);
                }
            }
        }
    }

    @Test
    void aReloadIsRefusedAsAStartIs() {
        try (RateLimiter rateLimiter = Backends.limiter(false);
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
            for (int expected : new int[] {200, 200, 429}) {
                assertEquals(expected, site.status("/", "X-Forwarded-For", "10.9.1.1"));
            }
            limiter.replace(WebServer.config(RULE + EXEMPT + CONNECTION));
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
