package io.limiter.http.internal;

import io.limiter.internal.config.ClientIpSettings.Source;
import io.limiter.internal.config.HttpSettings.MethodOverride;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.Settings;
import java.util.Collection;
import java.util.List;

/** Checks of configurations for a server in which something before the door replaces the addresses of clients, or methods. */
public final class ReplacedAddresses {
    private static final String WAYS_OUT = "; write limiter.client-ip.source = connection, with your"
            + " limiter.client-ip.trusted-proxies, or container if that address is right";

    private ReplacedAddresses() {}

    /**
     * Refuses a configuration that depends on addresses which clients may have written.
     *
     * @param by what replaces the address, as an operator calls it
     * @param takesHeader whether it removes what it has read from the headers
     * @throws IllegalArgumentException if callers are exempt or denied by address, or the header is needed
     */
    public static void refuse(Settings config, String by, boolean takesHeader) {
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
    public static List<String> findings(Settings config, String by) {
        return config.clientIp().source() != Source.AUTO
                ? List.of()
                : List.of("RL-330 " + by
                        + " replaces the client's address before the limiter; a client that can write its header gets new"
                        + " quotas" + WAYS_OUT);
    }

    /** That methods are replaced where rules don't see it, as sentences for the log. */
    public static List<String> methodFindings(Settings config, Collection<RuleDefinition> rules, String by) {
        return config.http().methodOverride() == MethodOverride.FORMS
                        || rules.stream()
                                .allMatch(rule -> rule.scope().methods().isEmpty())
                ? List.of()
                : List.of(
                        "RL-324 " + by + " takes methods from the bodies of forms, which the limiter does not read, and"
                                + " there are rules with methods; add limiter.http.method-override = forms");
    }

    private static boolean namesAddresses(Settings config) {
        Settings.Callers callers = config.callers();
        return !callers.denied().isEmpty()
                || !callers.exempt().addresses().isEmpty()
                || config.rules().stream()
                        .anyMatch(rule -> !rule.scope().exempt().addresses().isEmpty());
    }
}
