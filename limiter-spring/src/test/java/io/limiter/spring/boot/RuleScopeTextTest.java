package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.address.IpNetwork;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.CallerMatcher;
import io.limiter.internal.config.RuleDefinition;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which requests rules match, in YAML and environment variables. */
class RuleScopeTextTest {
    @TempDir
    Path folder;

    @Test
    void whoAndWhichRequestsInYaml() {
        LimiterConfig config = BootApp.config(
                folder, """
                limiter:
                  enabled: true
                  exempt:
                    addresses: [private, "::1"]
                    roles: ops
                  deny: {addresses: [198.51.100.0/24], status: 429}
                  rules:
                    api.v1:
                      limits: 3/1h
                      path: /api/**/export
                      headers: [X-Kind=batch, X-Api-Key]
                      query: format=csv
                      except: [/api/health, /api/static/*]
                      exempt:
                        users: [ann, bob]
                        addresses:
                          - 10.1.0.0/16
                      shadow: true
                    rest:
                      default: true
                      limits: 1/1h
                      enabled: false
                """, Map.of("LIMITER_RULES_API_V1_EXEMPT_ROLES", "admin", "LIMITER_EXEMPT_USERS", "root"));
        assertEquals(5, config.settings().callers().exempt().addresses().size());
        assertEquals(Set.of("ops"), config.settings().callers().exempt().roles());
        assertEquals(Set.of("root"), config.settings().callers().exempt().users());
        assertEquals(429, config.settings().callers().deniedStatus());
        RuleDefinition api = config.settings().rules().get(0);
        assertEquals("api.v1", api.name());
        assertEquals("[X-Kind=batch, X-Api-Key]", api.scope().headers().toString());
        assertEquals("[format=csv]", api.scope().query().toString());
        assertEquals(List.of("/api/health", "/api/static/*"), api.scope().except());
        assertEquals(
                new CallerMatcher(List.of(IpNetwork.parse("10.1.0.0/16")), Set.of("ann", "bob"), Set.of("admin")),
                api.scope().exempt());
        assertEquals(RuleDefinition.Mode.SHADOW, api.mode());
        assertTrue(config.settings().rules().get(1).scope().isDefault());
        assertEquals(List.of("/*"), config.settings().rules().get(1).scope().paths());
        assertEquals(RuleDefinition.Mode.OFF, config.settings().rules().get(1).mode());
    }
}
