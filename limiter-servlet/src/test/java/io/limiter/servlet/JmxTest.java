package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import io.limiter.application.LimiterMXBean;
import io.limiter.servlet.WebServer.Answer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Web applications with one file each show themselves in the JMX of their container as long as they run. */
class JmxTest {
    private final MBeanServer jmx = ManagementFactory.getPlatformMBeanServer();

    @TempDir
    Path directory;

    private WebServer start(String webApp) throws Exception {
        Path folder = directory.resolve(webApp);
        Path webInf = Files.createDirectories(folder.resolve("web/WEB-INF"));
        Files.writeString(webInf.resolve("limiter.properties"), """
                limiter.jmx.name = shop
                limiter.rules.all.path = /*
                limiter.rules.all.limits = 1/1h
                """);
        FilterDef definition = new FilterDef();
        definition.setFilterName("limiter");
        definition.setFilterClass(RateLimitFilter.class.getName());
        return new WebServer(folder)
                .filter(definition)
                .servlet("/", Answer.text("ok"))
                .start();
    }

    private Set<String> registered() throws JMException {
        return jmx.queryNames(new ObjectName("io.limiter:type=Limiter,*"), null).stream()
                .map(name -> name.getKeyProperty("name"))
                .collect(Collectors.toSet());
    }

    @Test
    void twoWebApplicationsOfOneName() throws Exception {
        try (WebServer one = start("one")) {
            assertEquals(List.of(200, 429, 429), one.statuses(3, "/page"));
            try (WebServer two = start("two")) {
                assertEquals(List.of(200), two.statuses(1, "/page"));
                assertEquals(Set.of("shop", "shop-2"), registered());
                assertEquals(2, denied("shop"));
                assertEquals(0, denied("shop-2"));
            }
            assertEquals(Set.of("shop"), registered());
        }
        assertEquals(Set.of(), registered());
    }

    private long denied(String name) throws JMException {
        ObjectName full = new ObjectName("io.limiter:type=Limiter,name=" + name);
        return JMX.newMXBeanProxy(jmx, full, LimiterMXBean.class)
                .getDenied()
                .get("all")
                .get(Decision.Source.IN_PROCESS);
    }
}
