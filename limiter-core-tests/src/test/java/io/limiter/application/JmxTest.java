package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.LogLines;
import io.limiter.kit.Pages;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A limiter in the JMX of this JVM, as a tool from elsewhere reads it. */
class JmxTest {
    private static final String[] ATTRIBUTES = {
        "Allowed", "Denied", "Blocked", "Failures", "Servers", "Deciding", "Findings"
    };

    private final MBeanServer jmx = ManagementFactory.getPlatformMBeanServer();

    private static LimiterConfig config(Map<String, String> properties) {
        return LimiterConfig.builder().properties("test", properties).build();
    }

    private static Limiter start(String... name) {
        return Limiter.start(config(
                name.length == 0
                        ? Map.of("limiter.policies.vote.limits", "3/1h")
                        : Map.of("limiter.policies.vote.limits", "3/1h", "limiter.jmx.name", name[0])));
    }

    private static ObjectName name(String name) throws JMException {
        return new ObjectName("io.limiter:type=Limiter,name=" + name);
    }

    private Set<String> registered() throws JMException {
        return jmx.queryNames(new ObjectName("io.limiter:*"), null).stream()
                .map(one -> one.getKeyProperty("name"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @BeforeEach
    @AfterEach
    void nothingIsThere() throws JMException {
        assertEquals(Set.of(), registered());
    }

    @Test
    void onlyWhereItIsAsked() throws JMException {
        try (Limiter limiter = start()) {
            assertTrue(limiter.tryAcquire("vote", PartitionKey.global(), 1).allowed());
            assertEquals(Set.of(), registered());
        }
    }

    @Test
    void countersByPolicyAndSourceAndNeverAClient() throws JMException {
        try (Limiter limiter = start("shop")) {
            LimiterMXBean seen = JMX.newMXBeanProxy(jmx, name("shop"), LimiterMXBean.class);
            assertEquals(0, seen.getAllowed().get("vote").get(Decision.Source.IN_PROCESS));
            // Few, because of a flood the sketch notes a sample.
            for (int i = 0; i < 20; i++) {
                for (int call = 0; call < 5; call++) {
                    limiter.tryAcquire("vote", PartitionKey.of("client-" + i), 1);
                }
            }
            assertEquals(Set.of("vote"), seen.getAllowed().keySet());
            assertEquals(60, seen.getAllowed().get("vote").get(Decision.Source.IN_PROCESS));
            assertEquals(40, seen.getDenied().get("vote").get(Decision.Source.IN_PROCESS));
            assertEquals(0, seen.getFailures().get(BackendException.Kind.LATE));
            assertEquals(Map.of(), seen.getServers());
            assertTrue(seen.isDeciding());
            assertEquals(List.of(), seen.getFindings());

            // What a console without these classes reads: open types, one row for each policy.
            AttributeList all = jmx.getAttributes(name("shop"), ATTRIBUTES);
            assertEquals(ATTRIBUTES.length, all.size());
            assertEquals(1, ((TabularData) ((Attribute) all.get(0)).getValue()).size());
            assertFalse(all.toString().contains("client-"), all.toString());

            for (int call = 0; call < 3; call++) {
                limiter.tryAcquire("vote", PartitionKey.of("client-7"), 1);
            }
            assertEquals(List.of("vote client-7 5"), seen.busiestDenied(1));
        }
    }

    @Test
    void thePageHasThisNameAndTheseAttributes() throws IOException {
        String page = Pages.text("operations");
        assertTrue(page.contains("```properties\nlimiter.jmx.name = shop\n```"));
        assertTrue(page.contains("`io.limiter:type=Limiter,name=shop`"));
        for (String attribute : ATTRIBUTES) {
            assertTrue(page.contains("`" + attribute + "`"), attribute);
        }
    }

    @Test
    void healthOfARedisThatIsAway() throws JMException {
        try (Limiter limiter = Limiter.start(config(Map.of(
                "limiter.policies.vote.limits", "3/1h",
                "limiter.redis.address", "redis://127.0.0.1:1",
                "limiter.redis.startup-wait", "0s",
                "limiter.jmx.name", "shop")))) {
            limiter.tryAcquire("vote", PartitionKey.global(), 1);
            LimiterMXBean seen = JMX.newMXBeanProxy(jmx, name("shop"), LimiterMXBean.class);
            assertFalse(seen.isDeciding());
            assertEquals(
                    Set.of(BackendHealth.State.AWAY),
                    Set.copyOf(seen.getServers().values()));
            assertTrue(
                    seen.getFindings().get(0).startsWith("RL-"),
                    seen.getFindings().toString());
            assertEquals(1, seen.getFailures().get(BackendException.Kind.UNAVAILABLE));
            assertEquals(1, seen.getAllowed().get("vote").get(Decision.Source.LOCAL_FALLBACK));
        }
    }

    @Test
    void limitersOfOneNameHaveNumbersAndEachLeavesOnlyItsOwn() throws JMException {
        Limiter first = start("shop");
        Limiter second = start("shop");
        assertEquals(Set.of("shop", "shop-2"), registered());
        first.close();
        assertEquals(Set.of("shop-2"), registered());
        try (Limiter third = start("shop")) {
            third.tryAcquire("vote", PartitionKey.global(), 1);
            first.close();
            second.close();
            assertEquals(Set.of("shop"), registered());
        }
    }

    @Test
    void whatCannotBeRegisteredLimitsAllTheSameAndIsLogged() throws JMException {
        for (int number = 1; number <= JmxView.MOST_OF_ONE_NAME; number++) {
            Runnable nothing = () -> {};
            jmx.registerMBean(
                    new StandardMBean(nothing, Runnable.class), name(number == 1 ? "shop" : "shop-" + number));
        }
        try (LogLines log = new LogLines().ofThreads()) {
            try (Limiter limiter = start("shop")) {
                assertTrue(limiter.tryAcquire("vote", PartitionKey.global(), 1).allowed());
            }
            assertEquals(
                    1, log.of(Level.WARN, "RL-147 limiter.jmx.name = shop: ").size(), log.toString());
        } finally {
            assertEquals(JmxView.MOST_OF_ONE_NAME, registered().size());
            for (String name : registered()) {
                jmx.unregisterMBean(name(name));
            }
        }
    }
}
