package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Facts;
import io.limiter.kit.Heard;
import io.limiter.spring.RateLimited;
import io.limiter.spring.boot.BootSite;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The endpoint finds nothing wrong with any key that rules and annotations make, however they are written; with others it does. */
class KeysThatAreMadeTest {
    private static final Set<Charge> MADE = ConcurrentHashMap.newKeySet();

    private BootSite site;

    @Configuration(proxyBeanMethods = false)
    @Import({ManagedSite.Site.class, Keys.class})
    static class Site {
        @Bean
        RateLimiter rateLimiter() {
            return RateLimiters.on(new Heard(MADE::addAll));
        }

        @Bean
        PartitionKey wholeKey() {
            return PartitionKey.of(List.of("a", "b"));
        }
    }

    record Order(String id, PartitionKey owner, Collection<String> labels) {}

    static class Keys {
        @RateLimited(limits = "9/1h", key = "#a + ',' + #b")
        public void joinedByAComma(String a, String b) {}

        @RateLimited(limits = "9/1h", key = "{#a.replace(',', ';'), 'x, y', #b}")
        public void commasInParts(String a, String b) {}

        @RateLimited(limits = "9/1h", key = "#key")
        public void wholeKey(PartitionKey key) {}

        @RateLimited(limits = "9/1h", key = "#parts")
        public void list(List<String> parts) {}

        @RateLimited(limits = "9/1h", key = "#anything")
        public void anything(Object anything) {}

        @RateLimited(limits = "9/1h", key = "#order.id", name = "property")
        @RateLimited(limits = "9/1h", key = "#order.owner", name = "property-key")
        @RateLimited(limits = "9/1h", key = "#order.labels()", name = "property-list")
        public void ofOrder(Order order) {}

        @RateLimited(limits = "9/1h", key = "#order?.id ?: 'none'")
        public void elvis(Order order) {}

        @RateLimited(limits = "9/1h", key = "#first ? #key : 'text'")
        public void ternary(boolean first, PartitionKey key) {}

        @RateLimited(limits = "9/1h", key = "@wholeKey")
        public void bean() {}

        @RateLimited(limits = "9/1h", key = "#name")
        public void optional(Optional<String> name) {}

        @RateLimited(limits = "9/1h", key = "{#who, #number}")
        public void missing(Principal who, long number) {}

        @RateLimited(limits = "9/1h", key = "(global)")
        public void global() {}

        @RateLimited(limits = "9/1h", key = "{{'a', 'b'}, {'c'}}[0]")
        public void index() {}
    }

    @BeforeEach
    void start() {
        MADE.clear();
        site = BootSite.start(
                Site.class,
                "limiter.policies.vote.limits=3/10s",
                "limiter.rules.all.path=/kinds/*",
                "limiter.rules.all.limits=99/1h",
                "limiter.rules.all.key=ip + user + session + header:X-Api-Key + cookie:a.b",
                "limiter.rules.one.path=/kinds/{id}",
                "limiter.rules.one.limits=99/1h",
                "limiter.rules.one.key=path:id",
                "limiter.rules.everybody.path=/kinds/*",
                "limiter.rules.everybody.limits=99/1h",
                "limiter.rules.everybody.key=global",
                "limiter.rules.client.path=/kinds/*",
                "limiter.rules.client.limits=99/1h",
                "management.endpoints.web.exposure.include=ratelimits");
    }

    @AfterEach
    void stop() {
        site.close();
    }

    @Test
    void nothingIsWrongWithThem() throws Exception {
        Keys keys = site.bean(Keys.class);
        keys.joinedByAComma("a", "b");
        keys.commasInParts("a,a", "b");
        keys.wholeKey(PartitionKey.of(List.of("x", "y", "z")));
        keys.wholeKey(PartitionKey.global());
        keys.list(List.of("one", "two", "three"));
        keys.anything("text");
        keys.anything(List.of("one", "two"));
        keys.anything(PartitionKey.of("192.0.2.1"));
        keys.ofOrder(new Order("7", PartitionKey.of("owner"), Set.of("red", "blue")));
        keys.elvis(new Order("7", null, null));
        keys.elvis(null);
        keys.ternary(true, PartitionKey.of(List.of("x", "y")));
        keys.ternary(false, null);
        keys.bean();
        keys.optional(Optional.of("a"));
        keys.optional(Optional.empty());
        keys.missing(() -> "alice", 7);
        keys.missing(null, 7);
        keys.global();
        keys.index();
        site.call("GET", "/kinds/7");
        site.call("GET", "/kinds/7", "X-Api-Key", "a:b", "Cookie", "a.b=c");
        site.call("GET", "/kinds/x%20y", "X-Api-Key", "a,b");
        Set<String> policies = new TreeSet<>();
        for (Charge charge : new HashSet<>(MADE)) {
            String policy = charge.policy().name();
            policies.add(policy);
            HttpResponse<String> seen = site.key("GET", policy, charge.key().canonical());
            assertNull(read(seen, "$.note"), () -> charge + " " + seen.body());
        }
        assertEquals(19, policies.size(), "all that this class has: " + policies);
    }

    @Test
    void othersAreToldHowTheyLook() {
        assertNote("key=<text>", "Keys.joinedByAComma", "key=a:key=b");
        assertNote("key=<text>:key=<text>:key=<text>", "Keys.commasInParts", "key=a");
        assertNote("key=<text>", "Keys.optional", "user=a");
        assertNote("key=<text>:key=<text>", "Keys.missing", "key=a");
        assertNote("path.id=<text>", "one", "id=7");
        assertNote("*", "everybody", "192.0.2.1");
        assertNote("<address>", "client", "@192.0.2.1");
        assertNote(
                "<address>:user=<text>:session=<secret>:header.x-api-key=<secret>:cookie.a.b=<secret>",
                "all",
                "192.0.2.1");
        for (String open : List.of(
                "Keys.wholeKey",
                "Keys.list",
                "Keys.anything",
                "property",
                "property-key",
                "Keys.elvis",
                "Keys.ternary")) {
            assertNull(read(site.key("GET", open, "x:y:z"), "$.note"), "may be made: " + open);
        }
    }

    private void assertNote(String form, String policy, String key) {
        String note = read(site.key("GET", policy, key), "$.note");
        Facts.toldInOneLine(note, "'" + policy + "'");
        assertTrue(List.of(note.split(" ")).contains(form), note);
    }
}
