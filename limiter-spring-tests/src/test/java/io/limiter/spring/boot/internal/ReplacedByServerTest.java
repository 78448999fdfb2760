package io.limiter.spring.boot.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.spring.App;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** The settings by which a server replaces the addresses of clients, without a server; with one in ReplacedAddressOfBootTest. */
class ReplacedByServerTest {
    private static final String RULES = "limiter.rules.api.path = /*\nlimiter.rules.api.limits = 1/1m\n";

    private static List<String> told(String rules, String key, String value) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", Map.of(key, value)));
        try (LogLines log = new LogLines().ofThreads();
                Limiter limiter = Limiter.start(App.config(rules))) {
            FilterPlaces.checkAddresses(limiter, environment, true, null);
            return log.of(Level.WARN, "RL-330");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "server.forward-headers-strategy, native, server.forward-headers-strategy = native",
        "spring.main.cloud-platform, kubernetes, (the default on KUBERNETES)",
        "server.tomcat.remoteip.remote-ip-header, X-Forwarded-For, server.tomcat.remoteip",
        "server.tomcat.remoteip.protocol-header, X-Forwarded-Proto, server.tomcat.remoteip"
    })
    void eachIsNamedAndRefusedWithExemptAddresses(String key, String value, String name) {
        List<String> lines = told(RULES, key, value);
        assertEquals(1, lines.size(), lines::toString);
        Facts.toldInOneLine(lines.get(0), "RL-330", name);
        String exempt = RULES + "limiter.exempt.addresses = 10.0.0.0/8\n";
        Facts.toldInOneLine(App.message(() -> told(exempt, key, value)), "RL-191", name);
    }

    @Test
    void othersAreNot() {
        assertEquals(List.of(), told(RULES, "server.forward-headers-strategy", "none"));
        assertEquals(
                List.of(),
                told(RULES + "limiter.client-ip.source = container\n", "server.forward-headers-strategy", "native"));
    }
}
