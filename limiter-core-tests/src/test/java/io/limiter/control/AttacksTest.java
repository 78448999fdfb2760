package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.Signer;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** What somebody tries who may write to Redis, or to publish, and should not get: everything on real servers. */
class AttacksTest extends ControlFixture {
    private static final String OLD = RedisServers.single();
    private static final String NEWER = RedisServers.newer();
    private static final String OWN = "limiter.policies.vote.limits = 2/1m";
    private static final String TEXT = "limiter.policies.vote.limits = 20/1m\n";
    private final ControlKeys keys = new ControlKeys(group);

    /** What an attacker writes who has no secret, or another one. */
    private void plant(String address, Directive text, Head head) {
        redis(address, redis -> {
            redis.set(keys.text(text.version()), text.record());
            redis.set(keys.head(), head.toString());
        });
    }

    /** Waits until the instance has looked at what was planted, and returns why it is not in force. */
    private String refusal(Control control) throws Exception {
        return control.await(LONG).values().iterator().next();
    }

    private static Directive withSignature(Directive forged, Directive signed) {
        return Directive.of(forged.record().replaceFirst("\t\t\t", "\t\t" + signed.signature() + "\t"));
    }

    private static long micros() {
        return System.currentTimeMillis() * 1_000;
    }

    @Test
    void anUnsignedText() throws Exception {
        Limiter one = instance(OLD, OWN);
        long now = micros();
        plant(OLD, text(1, now, "mallory", TEXT), new Head(1, now, 0, 0));
        assertTrue(refusal(control(OLD)).contains("RL-502"));
        assertTrue(limits(one, "vote").contains("[2/1m"));
    }

    @Test
    void aTextThatIsSignedForAnotherGroupVersionOrTime() throws Exception {
        Limiter one = instance(OLD, OWN);
        long now = micros();
        Directive signed = text(1, now, "alice", TEXT).signed(new Signer(group, SECRET));
        List<UnaryOperator<Directive>> forgeries = List.of(
                text -> text(1, now, "alice", TEXT).signed(new Signer(group + "x", SECRET)),
                text -> text(1, now, "alice", TEXT).signed(new Signer(group, SECRET + "x")),
                text -> withSignature(text(1, now + 1, "alice", TEXT), text),
                text -> withSignature(text(2, now, "alice", TEXT), text),
                text -> withSignature(text(1, now, "bob", TEXT), text),
                text -> withSignature(text(1, now, "alice", TEXT + "limiter.policies.x.limits = 1/1s\n"), text));
        for (int i = 0; i < forgeries.size(); i++) {
            Directive forged = forgeries.get(i).apply(signed);
            plant(OLD, forged, new Head(forged.version(), forged.micros(), 0, 0));
            assertTrue(refusal(control(OLD)).contains("RL-502"), "forgery " + i);
        }
        assertTrue(limits(one, "vote").contains("[2/1m"));
    }

    @Test
    void anOldTextWithItsSignatureIsNotTakenAgain() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        control.publish(TEXT, "alice", "", 0);
        control.await(LONG);
        String[] first = new String[2];
        redis(OLD, redis -> {
            first[0] = redis.get(keys.head());
            first[1] = redis.get(keys.text(1));
        });
        control.publish("limiter.policies.vote.limits = 3/1m\n", "alice", "", 1);
        control.await(LONG);
        redis(OLD, redis -> redis.set(keys.head(), first[0]));
        await("it says so", () -> findings(one).contains("RL-506"));
        // The old record under a new head.
        redis(OLD, redis -> {
            redis.set(keys.text(9), first[1]);
            redis.set(keys.head(), new Head(9, micros() + 9_000_000, 0, 0).toString());
        });
        await("it says so", () -> findings(one).contains("RL-502"));
        assertTrue(limits(one, "vote").contains("[3/1m"));
    }

    /** What an operator takes back to is signed again, so it must be what was published. */
    @Test
    void aTextThatWasChangedWhereItIsKept() throws Exception {
        Control control = control(OLD);
        control.publish(TEXT, "alice", "", 0);
        control.publish("limiter.policies.vote.limits = 3/1m\n", "alice", "", 1);
        redis(OLD, redis -> redis.set(keys.text(1), redis.get(keys.text(1)).replace("20/1m", "2000000/1m")));
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> control.rollBack(1, "alice", ""));
        assertTrue(refused.getMessage().startsWith("RL-502"), refused.getMessage());
        assertEquals(1, control.versions().size());
        redis(OLD, redis -> {
            redis.set(keys.head(), new Head(2, 9_000_000_000_000_000L, 9_000_000_000_000_000L, 0).toString());
            redis.hset(keys.directivesById(), "all ", "nonsense");
        });
        assertEquals(List.of(), control.entries());
        Limiter one = instance(OLD, OWN);
        control.publish(TEXT, "alice", "", 2);
        await("the right one", () -> limits(one, "vote").contains("20/1m"));
    }

    /** What instances were only asked about is signed, but not to be in force. */
    @Test
    void aTextAboutWhichInstancesWereAsked() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        assertEquals(List.of(""), List.copyOf(control.ask(TEXT, "alice", LONG).values()));
        redis(OLD, redis -> {
            String record = redis.get(keys.candidate());
            redis.set(keys.text(1), record);
            redis.set(keys.head(), new Head(1, Directive.of(record).micros(), 0, 0).toString());
        });
        assertTrue(refusal(control).contains("RL-502"));
        assertTrue(limits(one, "vote").contains("[2/1m"));
        // Neither among the overrides.
        redis(OLD, redis -> {
            redis.zadd(keys.directives(), micros() + 1_000_000, redis.get(keys.candidate()));
            redis.set(keys.head(), new Head(0, 0, micros() + 2_000_000, 0).toString());
        });
        await("it says so", () -> findings(one).contains("RL-503 it is a text"));
        assertTrue(one.directives().all().isEmpty());
    }

    @Test
    void aHeadOfAnotherFormKeepsNoSwitchFromEnding() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        control.set("policy:vote", "", "off", "", soon(), "op", "");
        await("off", () -> one.directives().all().size() == 1);
        String[] head = new String[1];
        redis(OLD, redis -> {
            head[0] = redis.get(keys.head());
            redis.set(keys.head(), "x");
        });
        stepUntil(Duration.ofHours(2), "ended", () -> one.directives().all().isEmpty());
        await("it says so", () -> findings(one).contains("RL-503"));
        redis(OLD, redis -> redis.set(keys.head(), head[0]));
        await("it is well", () -> findings(one).equals("[]"));
    }

    /** Those that have ended make room, and there is always room for switches. */
    @Test
    void asManyOverridesAsThereMayBe() {
        Control control = control(OLD);
        long now = micros();
        redis(OLD, redis -> {
            for (int i = 0; i < ControlKeys.MOST_DIRECTIVES; i++) {
                long end = now + (i < 200 ? -1 : 900_000_000);
                String record = new Directive(
                                i + 1, Directive.Kind.BLOCKED, "policy:vote", "k" + i, end, "alice", "", "", "")
                        .record();
                redis.hset(keys.directivesById(), "policy:vote k" + i, record);
                redis.zadd(keys.directivesByEnd(), end, record);
            }
        });
        control.set("policy:vote", "a", "blocked", "", soon(), "op", "");
        for (int i = 0; i < 97; i++) {
            control.set("policy:vote", PartitionKey.of("a" + i).canonical(), "blocked", "", soon(), "op", "");
        }
        control.set("all", "", "deny", "", soon(), "op", "");
    }

    @Test
    void aTextWithTenMegabytes() throws Exception {
        Limiter one = instance(OLD, OWN);
        long now = micros();
        redis(OLD, redis -> {
            redis.set(keys.text(1), "x".repeat(10_000_000));
            redis.set(keys.head(), new Head(1, now, 0, 0).toString());
        });
        assertTrue(refusal(control(OLD)).contains("has more than 264144 bytes"));
        assertTrue(limits(one, "vote").contains("[2/1m"));
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> control(OLD).publish("#" + "x".repeat(10_000_000), "alice", "", 0));
        assertTrue(refused.getMessage().startsWith("RL-503"), refused.getMessage());
    }

    /** Instances look often, so what they look at is never read as a whole. */
    @Test
    void aHeadWithTenMegabytes() throws Exception {
        // Its own, because it counts what a server sends.
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        String address = "redis://127.0.0.1:" + port;
        try (Limiter one = instance(address, OWN)) {
            redis(address, redis -> redis.set(keys.head(), "1".repeat(10_000_000)));
            await("it says so", () -> findings(one).contains("has more than 100 bytes"));
            redis(address, redis -> {
                long before = number(redis.info("stats"), "total_net_output_bytes");
                long looks = number(redis.info("commandstats"), "cmdstat_getrange:calls");
                Await.until(
                        LONG, "more", () -> number(redis.info("commandstats"), "cmdstat_getrange:calls") > looks + 3);
                assertTrue(number(redis.info("stats"), "total_net_output_bytes") - before < 5_000_000);
            });
            assertTrue(assertThrows(
                            IllegalArgumentException.class,
                            () -> control(address).publish(TEXT, "alice", "", 0))
                    .getMessage()
                    .startsWith("RL-503"));
        } finally {
            RedisServers.stop(server);
        }
    }

    private static long number(String statistics, String name) {
        return Long.parseLong(statistics.replaceAll("(?s).*" + name + "[:=](\\d+).*", "$1"));
    }

    @Test
    void controlCharactersInATextOrWhatGoesWithIt() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        for (String text :
                List.of(TEXT + "#\u001b[2J", TEXT + "\u0000", "limiter.policies.vote.limits = 2/1m name a\\u001b\n")) {
            assertThrows(IllegalArgumentException.class, () -> control.publish(text, "alice", "", 0));
        }
        for (String word : List.of("a\nb", "a\tb", "\u001b[31m", "a\u202eb", "x".repeat(201))) {
            assertThrows(IllegalArgumentException.class, () -> control.publish(TEXT, word, "", 0));
            assertThrows(IllegalArgumentException.class, () -> control.publish(TEXT, "alice", word, 0));
            assertThrows(IllegalArgumentException.class, () -> control.set("all", "", "off", "", soon(), word, ""));
            assertThrows(
                    IllegalArgumentException.class, () -> control.set("all", "", "off", "", soon(), "alice", word));
        }
        // Escaped, so that only the values have them, and signed.
        long now = micros();
        String escaped = "limiter.denials.log-per-second = 1\\u0007\n";
        plant(OLD, text(1, now, "alice", escaped).signed(new Signer(group, SECRET)), new Head(1, now, 0, 0));
        assertTrue(refusal(control).contains("RL-503"));
        assertTrue(limits(one, "vote").contains("[2/1m"));
        assertEquals(List.of(), control.audit(10));
    }

    @Test
    void aTextWithAClass() throws Exception {
        Limiter one = instance(OLD, OWN, "limiter.http.rejection-handler = com.example.Mine");
        Control control = control(OLD);
        long version = 0;
        for (String line : List.of(
                "limiter.http.rejection-handler = com.example.Evil",
                "limiter.rules.x.path = /x\nlimiter.rules.x.limits = 1/1s\nlimiter.rules.x.key = class:com.example.Evil",
                "limiter.rules.x.path = /x\nlimiter.rules.x.limits = 1/1s\nlimiter.rules.x.key = class: com.example.Evil",
                "limiter.rules.x.path = /x\nlimiter.rules.x.limits = 1/1s\nlimiter.rules.x.cost = com.example.Evil",
                "limiter.rules.x.path = /x\nlimiter.plans.p.limits = 1/1s\nlimiter.rules.x.default-plan = p\n"
                        + "limiter.rules.x.plan = com.example.Evil")) {
            version = control.publish(line + "\n", "alice", "", version);
            assertTrue(refusal(control).contains("RL-504"), line);
        }
        version = control.publish("limiter.http.rejection-handler = com.example.Mine\n", "alice", "", version);
        assertEquals("", refusal(control));
        assertTrue(one.config().origins().get("limiter.http.rejection-handler").startsWith("published"));
    }

    @Test
    void whereRedisIsAndWhoMayPublishAreNotPublished() throws Exception {
        instance(OLD, OWN);
        for (String line : List.of(
                "limiter.redis.address = redis://192.0.2.1:1",
                "limiter.control.secret = 0123456789abcdef0",
                "limiter.control.accepts = all",
                "limiter.enabled = false",
                "limiter.backend = in-process",
                "limiter.instances = 1000")) {
            assertThrows(IllegalArgumentException.class, () -> control(OLD).publish(line + "\n", "alice", "", 0), line);
            long now = micros();
            plant(OLD, text(1, now, "alice", line + "\n").signed(new Signer(group, SECRET)), new Head(1, now, 0, 0));
            assertTrue(refusal(control(OLD)).matches("(?s).*RL-(504|150).*"), line);
        }
    }

    @Test
    void whatAnInstanceDoesNotAccept() throws Exception {
        Limiter one = instance(OLD, OWN, "limiter.control.accepts = limits, switches");
        Control control = control(OLD);
        control.publish("limiter.exempt.addresses = 0.0.0.0/0\n" + TEXT, "alice", "", 0);
        assertTrue(refusal(control).contains("RL-504"));
        control.publish(TEXT, "alice", "", 1);
        assertEquals("", refusal(control));
        control.set("policy:vote", "a", "unlimited", "", soon(), "op", "");
        control.set("policy:vote", "", "off", "", soon(), "op", "");
        await("the switch", () -> one.directives().all().size() == 1);
        assertEquals("policy:vote", one.directives().all().iterator().next().target());
        control.set("policy:vote", "b", "unlimited", "", soon(), "op", "");
        await("it says so", () -> findings(one).contains("RL-504 overrides are not taken here"));
        await("the report too", () -> control.instances().get(0).problem().contains("RL-504 overrides"));
    }

    @Test
    void unsignedOrOldOverridesAndSwitches() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        PartitionKey key = PartitionKey.of("192.0.2.1");
        control.set("policy:vote", key.canonical(), "unlimited", "", soon(), "op", "");
        await("in force", () -> one.directives().all().size() == 1);
        List<String> old = new ArrayList<>();
        redis(OLD, redis -> old.addAll(redis.zrange(keys.directives(), 0, -1)));
        control.remove("policy:vote", key.canonical(), "op", "");
        await("removed", () -> one.directives().all().isEmpty());
        long later = micros() + 5_000_000;
        redis(OLD, redis -> {
            redis.zadd(keys.directives(), later, old.get(0));
            redis.zadd(
                    keys.directives(),
                    later + 1,
                    new Directive(
                                    later + 1,
                                    Directive.Kind.OFF,
                                    "all",
                                    "",
                                    later + 3_600_000_000L,
                                    "mallory",
                                    "",
                                    "",
                                    "")
                            .record());
            redis.zadd(keys.directives(), later + 2, "nonsense");
            redis.set(keys.head(), new Head(0, 0, later + 2, 0).toString());
        });
        // What is right is taken all the same.
        control.set("policy:vote", "198.51.100.7", "blocked", "", soon(), "op", "");
        await("the right one", () -> one.directives().all().size() == 1);
        assertFalse(one.tryAcquire("vote", PartitionKey.of("198.51.100.7"), 1).allowed());
        assertEquals(Decision.Source.REDIS, one.tryAcquire("vote", key, 1).source());
    }
}
