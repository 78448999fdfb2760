package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.application.Limiter;
import io.limiter.kit.Pages;
import io.limiter.kit.RedisServers;
import io.limiter.redis.RedisBackend;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

/** Users of Redis with the documented rights, with and without a secret: on real servers. */
class RedisUsersTest extends ControlFixture {
    private static final String OLD = RedisServers.single();
    private static final String NEWER = RedisServers.newer();
    private static final String OWN = "limiter.policies.vote.limits = 2/1m";
    private static final String TEXT = "limiter.policies.vote.limits = 20/1m\n";

    @AfterEach
    void deleteUsers() {
        for (String server : List.of(OLD, NEWER)) {
            redis(server, redis -> {
                redis.aclDelUser("reader");
                redis.aclDelUser("publisher");
            });
        }
    }

    /** Redis 6.2 has no right to read only, so a signature is needed, and enough. */
    @Test
    void usersOfRedisAsDocumentedOnOldServers() throws Exception {
        Limiter one = reader(OLD, documented("limiter-reader").replace("%R~", "~"));
        Control control = as("publisher", OLD, SECRET);
        control.publish(TEXT, "alice", "", 0);
        assertEquals(List.of(""), List.copyOf(answers(control).values()));
        assertTrue(limits(one, "vote").contains("20/1m"));
        // It can write there, and nobody takes that.
        Control asReader = as("reader", OLD, "x" + SECRET);
        asReader.publish(OWN + "\n", "mallory", "", 0);
        await("it says so", () -> findings(one).contains("RL-502"));
        assertTrue(limits(one, "vote").contains("20/1m"));
        // A publisher with the secret replaces it, by a version that is higher than each signed one.
        assertEquals(2, control.publish(TEXT, "alice", "", 0));
        await("it is well", () -> findings(one).equals("[]"));
    }

    /** It takes what is published, also without overrides, and after the last of them has ended. */
    @Test
    void anInstanceThatMayNotReport() throws Exception {
        Limiter one =
                reader(OLD, documented("limiter-reader").replace("%R~", "~").replace("~limiter-report:* ", ""));
        control(OLD).publish(TEXT, "alice", "", 0);
        await("in force", () -> limits(one, "vote").contains("[20/1m"));
        await("it says so", () -> findings(one).contains("RL-511"));
        Entry ended = new Entry("policy:vote", "a", "blocked", Instant.now().minusSeconds(60), "op", "");
        Published.Stored next = signed(2, "limiter.policies.vote.limits = 30/1m\n", ended);
        plant(OLD, new Published.Stored(next.record(), ""));
        await("in force", () -> limits(one, "vote").contains("[30/1m"));
    }

    /** An instance that logs in with these rights, beside a publisher. */
    private Limiter reader(String server, String rights) throws Exception {
        redis(server, redis -> {
            redis.aclSetUser(
                    "reader", rights.replace("~limiter:*", "~" + prefix + ":*").split("\\s+"));
            redis.aclSetUser("publisher", documented("limiter-publisher").split("\\s+"));
        });
        return instance(
                config(server)
                        .property("limiter.redis.username", "reader")
                        .property("limiter.redis.password", "password"),
                OWN);
    }

    private Control as(String user, String server, String secret) {
        return opened(RedisBackend.builder().address(server).credentials(user, "password"), secret);
    }

    private static String documented(String user) {
        String page = Pages.text("operations");
        String command = "ACL SETUSER " + user + " ";
        int from = page.lastIndexOf(command) + command.length();
        return page.substring(from, page.indexOf("\n\n", from));
    }

    /** Those that have a right to read only; the first may be another server (CONTRIBUTING.md). */
    static List<String> servers() {
        return Stream.of(OLD, NEWER)
                .filter(address -> {
                    try (Jedis redis = RedisServers.jedis(address)) {
                        return !redis.info("server").contains("redis_version:6.");
                    }
                })
                .toList();
    }

    @ParameterizedTest
    @MethodSource("servers")
    void usersOfRedisAsDocumented(String server) throws Exception {
        Limiter one = reader(server, documented("limiter-reader"));
        Control control = as("publisher", server, SECRET);
        control.publish(TEXT, "alice", "", 0);
        assertEquals(List.of(""), List.copyOf(answers(control).values()));
        set(control, "policy:vote", "a", "blocked", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertTrue(limits(one, "vote").contains("20/1m"));
        // With the rights of an application nothing is published.
        Control asReader = as("reader", server, SECRET);
        BackendException refused =
                assertThrows(BackendException.class, () -> asReader.publish(OWN + "\n", "mallory", "", 2));
        assertTrue(refused.getMessage().startsWith("RL-2"), refused.getMessage());
        assertThrows(BackendException.class, () -> set(asReader, "all", "", "off", soon(), "mallory", ""));
        assertEquals(2, control.versions(10).size());
        await("it is well", () -> findings(one).equals("[]"));
        // What the endpoint shows.
        Control own = Control.of(one).orElseThrow();
        assertEquals(1, own.entries().size());
        assertEquals(1, own.instances().size());
        assertEquals(2, own.versions(10).size());
    }

    @Test
    void eachChangeIsKept() {
        Control control = control(OLD);
        control.publish(TEXT, "alice", "first", 0);
        control.rollBack(1, "bob", "");
        set(control, "policy:vote", "a", "5/1m", soon(), "carol", "ticket");
        set(control, "policy:vote", "a", "blocked", soon(), "carol", "");
        control.remove("policy:vote", "a", "dave", "");
        set(control, "all", "", "deny", soon(), "erin", "");
        control.remove("all", "", "erin", "");
        List<Control.Version> all = control.versions(100);
        assertEquals(
                List.of("erin", "erin", "dave", "carol", "carol", "bob", "alice"),
                all.stream().map(Control.Version::author).toList());
        assertTrue(
                all.get(3).change().matches("policy:vote a: 5/1m until \\S+ -> blocked until \\S+"),
                all.get(3).change());
        assertEquals("ticket", all.get(4).note());
    }
}
