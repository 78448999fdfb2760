package io.limiter.servlet.address;

import io.limiter.DiagnosticLog;
import io.limiter.config.CallerSettings;
import io.limiter.config.ClientIpSettings.Source;
import io.limiter.config.LimiterConfig;
import jakarta.servlet.ServletContext;
import java.util.List;
import org.slf4j.Logger;

/** Checks a configuration for a web application in which something replaces the client's address before the limiter. */
public final class AddressChecks {
    private static final Logger LOG = DiagnosticLog.of(AddressChecks.class);

    private static final String WAYS_OUT = "; write limiter.client-ip.source = connection, with your"
            + " limiter.client-ip.trusted-proxies, or container if that address is right";

    /** Filters that take the client's address from a header. They leave the headers of the request inside as they are. */
    public static final List<String> FILTERS = List.of(
            "org.springframework.web.filter.ForwardedHeaderFilter", "org.apache.catalina.filters.RemoteIpFilter");

    private static final String LOGGED = AddressChecks.class.getName();

    private AddressChecks() {}

    /**
     * Refuses a configuration that depends on addresses which clients may have written.
     *
     * @param by what replaces the address, as an operator calls it
     * @param takesHeader whether it removes what it has read from the headers
     * @throws IllegalArgumentException if callers are exempt or denied by address, or the header is needed
     */
    public static void refuse(LimiterConfig config, String by, boolean takesHeader) {
        Source source = config.clientIp().source();
        if (source == Source.AUTO && namesAddresses(config)) {
            throw new IllegalArgumentException("RL-191 " + by
                    + " replaces the client's address, and there are exempt or denied addresses" + WAYS_OUT);
        }
        if (source == Source.CONNECTION && takesHeader) {
            throw new IllegalArgumentException("RL-192 limiter.client-ip.source is connection, and " + by
                    + " removes the header of the proxies; write server.forward-headers-strategy = framework or none, or"
                    + " source = container");
        }
    }

    /** That addresses are replaced, as sentences for the log, unless the configuration shows that this is known. */
    public static List<String> findings(LimiterConfig config, String by) {
        return config.clientIp().source() != Source.AUTO
                ? List.of()
                : List.of("RL-330 " + by
                        + " replaces the client's address before the limiter; a client that can write its header gets new"
                        + " quotas" + WAYS_OUT);
    }

    /** Logs the findings, once for all filters of a web application. */
    public static void logOnce(ServletContext webApp, LimiterConfig config, String by) {
        if (webApp.getAttribute(LOGGED) == null) {
            webApp.setAttribute(LOGGED, true);
            findings(config, by).forEach(LOG::warn);
        }
    }

    private static boolean namesAddresses(LimiterConfig config) {
        CallerSettings callers = config.callers();
        return !callers.denied().isEmpty()
                || !callers.exempt().addresses().isEmpty()
                || config.rules().stream()
                        .anyMatch(rule -> !rule.scope().exempt().addresses().isEmpty());
    }
}
