package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import redis.clients.jedis.Jedis;

/** What somebody tries who may write to Redis, or to publish, and should not get: everything on real servers. */
class AttacksTest extends ControlFixture {
    private static final String OLD = RedisServers.single();
    private static final String OWN = "limiter.policies.vote.limits = 2/1m";
    private static final String TEXT = "limiter.policies.vote.limits = 20/1m\n";

    /** Plants a version, which is not in force, for this reason. */
    private void assertNotTaken(Limiter one, Published.Stored planted, String why) throws Exception {
        plant(OLD, planted);
        assertTrue(refusal(control(OLD)).contains(why), why);
        assertTrue(limits(one, "vote").contains("[2/1m"));
    }

    private String read(String name) {
        try (Jedis redis = RedisServers.jedis(OLD)) {
            return redis.get(key(name));
        }
    }

    private void write(String name, String value) {
        redis(OLD, redis -> redis.set(key(name), value));
    }

    private static void assertRefused(String code, Executable command) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, command).getMessage());
        assertTrue(message.startsWith(code), message);
    }

    @Test
    void aTextThatIsNotSignedOrForAnotherGroupOrVersion() throws Exception {
        Limiter one = instance(OLD, OWN);
        String signed = signed(1, TEXT).record();
        String head = signed(1, TEXT).head();
        String body =
                signed(1, TEXT + "limiter.policies.x.limits = 1/1s\n").record().replaceFirst(".*\n", "");
        List<String> forgeries = List.of(
                signed.replaceFirst("[0-9a-f]{64}\n", "0".repeat(64) + "\n"),
                Published.Stored.of(1, TEXT, List.of(), new Signer(group + "x", SECRET))
                        .record(),
                Published.Stored.of(1, TEXT, List.of(), new Signer(group, SECRET + "x"))
                        .record(),
                // Another version under this signature; another text; another one that its hash names.
                "2" + signed.substring(1),
                head + "\n" + body,
                head.replaceFirst("[0-9a-f]{64}", Signer.hash(body)) + "\n" + body);
        for (int i = 0; i < forgeries.size(); i++) {
            // Each is another head.
            write("current", "");
            assertEquals("", refusal(control(OLD)));
            plant(OLD, new Published.Stored(forgeries.get(i), ""));
            assertTrue(refusal(control(OLD)).contains("RL-502"), "forgery " + i);
        }
        // Without any signature, too.
        assertNotTaken(one, new Published.Stored(signed.replaceFirst(" [0-9a-f]{64}\n", "\n"), ""), "RL-503");
    }

    @Test
    void anOldTextWithItsSignatureIsNotTakenAgain() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        control.publish(TEXT, "alice", "", 0);
        answers(control);
        String head = read("current");
        String text = read("text:1");
        control.publish("limiter.policies.vote.limits = 3/1m\n", "alice", "", 1);
        answers(control);
        write("current", head);
        await("it says so", () -> findings(one).contains("RL-506"));
        // The old text as another version.
        write("text:9", text);
        write("current", "9" + head.substring(1));
        await("it says so", () -> findings(one).contains("RL-502"));
        assertTrue(limits(one, "vote").contains("[3/1m"));
        // Publishing again repairs it, above what the instance has.
        assertEquals(3, control.publish("limiter.policies.vote.limits = 4/1m\n", "alice", "", 0));
        await("it is in force", () -> limits(one, "vote").contains("[4/1m"));
        await("it is well", () -> findings(one).equals("[]"));
    }

    /** A server that lags may have the head and not yet the rest. */
    @Test
    void aHeadBeforeItsText() throws Exception {
        Limiter one = instance(OLD, OWN);
        Published.Stored version = signed(1, TEXT);
        write("current", version.head());
        await("it says so", () -> findings(one).contains("RL-502"));
        write("text:1", version.record());
        stepUntil(Duration.ofSeconds(6), "in force", () -> limits(one, "vote").contains("[20/1m"));
        await("it is well", () -> findings(one).equals("[]"));
    }

    /** Of a version whose head was lost Redis may have the rest, and its number comes again. */
    @Test
    void switchesOfALostVersion() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        write("entries:1", new Entry("all", "", "off", tomorrow(), "op", "").line());
        assertEquals(1, control.publish(TEXT, "alice", "", 0));
        assertEquals("", refusal(control));
        assertTrue(limits(one, "vote").contains("[20/1m"));
        write("entries:1", "x");
        String message =
                String.valueOf(assertThrows(Control.ConflictException.class, () -> control.publish(OWN, "alice", "", 1))
                        .getMessage());
        assertTrue(message.matches("RL-510 .* can't be read; .*--based 0"), message);
        assertEquals(2, control.publish(OWN, "alice", "", 0));
        assertEquals("", refusal(control));
    }

    /** An earlier version that somebody has written back is not signed again by who sets an override, nor are its overrides. */
    @Test
    void anOldVersionIsNotSignedAgain() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        control.publish(TEXT, "alice", "", 0);
        set(control, "policy:vote", "a", "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        String head = read("current");
        String lines = read("entries:2");
        control.remove("policy:vote", "a", "op", "");
        assertEquals(List.of(""), List.copyOf(answers(control).values()));
        write("entries:2", lines);
        write("current", head);
        assertRefused("RL-506", () -> set(control, "policy:vote", "b", "blocked", soon(), "op", ""));
        assertEquals(4, control.publish(TEXT, "alice", "", 2));
        set(control, "policy:vote", "b", "blocked", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertEquals("b", entries(one).iterator().next().key());
    }

    /** What an operator takes back to is signed again, so it must be what was published. */
    @Test
    void aTextThatWasChangedWhereItIsKept() throws Exception {
        Control control = control(OLD);
        control.publish(TEXT, "alice", "", 0);
        control.publish("limiter.policies.vote.limits = 3/1m\n", "alice", "", 1);
        write("text:1", read("text:1").replace("20/1m", "2000000/1m"));
        assertRefused("RL-502", () -> control.rollBack(1, "alice", ""));
        // Nor may it be another one that was published.
        write("text:1", read("text:2"));
        assertRefused("RL-502", () -> control.rollBack(1, "alice", ""));
        // Its author can't be changed either.
        write("change:2", read("change:2").replace("alice", "mallory"));
        assertEquals(
                List.of("alice"),
                control.versions(9).stream().map(Control.Version::author).toList());
    }

    @Test
    void aHeadOfAnotherFormKeepsNoSwitchFromEnding() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        set(control, "policy:vote", "", "off", soon(), "op", "");
        await("off", () -> entries(one).size() == 1);
        String head = read("current");
        write("current", "x");
        stepUntil(Duration.ofHours(2), "ended", () -> entries(one).isEmpty());
        await("it says so", () -> findings(one).contains("RL-503"));
        write("current", head);
        // The clock goes on as that of Redis, by which the switch has not ended.
        await("it is well", () -> !findings(one).contains("RL-503"));
    }

    /** There is always room for switches. */
    @Test
    void asManyOverridesAsThereMayBe() {
        Control control = control(OLD);
        List<Entry> all = new ArrayList<>();
        int bytes = 0;
        while (bytes < Published.MOST_BYTES - Published.FOR_SWITCHES - 200) {
            Entry one = new Entry("policy:vote", "k" + all.size(), "blocked", tomorrow(), "alice", "ticket");
            bytes += one.line().length() + 1;
            all.add(one);
        }
        plant(OLD, signed(1, "", all.toArray(new Entry[0])));
        set(control, "policy:vote", "a", "blocked", soon(), "op", "");
        assertThrows(
                IllegalArgumentException.class,
                () -> set(control, "policy:vote", "b", "blocked", soon(), "op", "n".repeat(200)));
        for (int i = 0; i < 5; i++) {
            set(control, "policy:p" + i, "", "off", soon(), "op", "");
        }
        Limiter one = instance(OLD, OWN);
        await("all", () -> entries(one).size() == all.size() + 6);
    }

    @Test
    void aTextWithTenMegabytes() throws Exception {
        Limiter one = instance(OLD, OWN);
        assertNotTaken(
                one,
                new Published.Stored(signed(1, TEXT).record() + "x".repeat(10_000_000), ""),
                "bytes, which are not read");
        assertRefused("RL-503", () -> control(OLD).publish("#" + "x".repeat(10_000_000), "alice", "", 0));
    }

    /** Instances look often, so what they look at is never read as a whole. */
    @Test
    void aHeadWithTenMegabytes() throws Exception {
        // Its own, because it counts what a server sends.
        String address = open(OwnRedis.start()).address();
        Limiter one = instance(address, OWN);
        redis(address, redis -> redis.set(key("current"), "1".repeat(10_000_000)));
        await("it says so", () -> findings(one).contains("has more than 150 bytes"));
        redis(address, redis -> {
            long before = number(redis.info("stats"), "total_net_output_bytes");
            long looks = number(redis.info("commandstats"), "cmdstat_getrange:calls");
            await("more", () -> number(redis.info("commandstats"), "cmdstat_getrange:calls") > looks + 3);
            assertTrue(number(redis.info("stats"), "total_net_output_bytes") - before < 5_000_000);
        });
        assertRefused("RL-503", () -> control(address).publish(TEXT, "alice", "", 0));
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
            assertThrows(IllegalArgumentException.class, () -> set(control, "all", "", "off", soon(), word, ""));
            assertThrows(IllegalArgumentException.class, () -> set(control, "all", "", "off", soon(), "alice", word));
        }
        // Escaped, so that only the values have them, and signed.
        plant(OLD, signed(1, "limiter.denials.log-per-second = 1\\u0007\n"));
        assertTrue(refusal(control).contains("RL-503"));
        assertTrue(limits(one, "vote").contains("[2/1m"));
        assertEquals(List.of(), control.versions(10));
    }

    @Test
    void aTextWithAClass() throws Exception {
        Limiter one = instance(OLD, OWN, "limiter.http.rejection-handler = com.example.Mine");
        Control control = control(OLD);
        long version = 0;
        for (String line : List.of(
                "limiter.http.rejection-handler = com.example.Evil",
                "limiter.rules.x.path = /x\n"
                        + "limiter.rules.x.limits = 1/1s\n"
                        + "limiter.rules.x.key = class:com.example.Evil",
                "limiter.rules.x.path = /x\n"
                        + "limiter.rules.x.limits = 1/1s\n"
                        + "limiter.rules.x.key = class: com.example.Evil",
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
        long version = 0;
        for (String line : List.of(
                "limiter.redis.address = redis://192.0.2.1:1",
                "limiter.control.secret = 0123456789abcdef0",
                "limiter.enabled = false",
                "limiter.backend = in-process",
                "limiter.instances = 1000")) {
            assertThrows(IllegalArgumentException.class, () -> control(OLD).publish(line + "\n", "alice", "", 0), line);
            plant(OLD, signed(++version, line + "\n"));
            assertTrue(refusal(control(OLD)).matches("(?s).*RL-(504|150).*"), line);
        }
    }

    /** Lines that are not signed are nothing, nor are those that were signed before; a running instance keeps what it has. */
    @Test
    void unsignedOrOldOverridesAndSwitches() throws Exception {
        Limiter one = instance(OLD, OWN);
        Control control = control(OLD);
        PartitionKey key = PartitionKey.of("192.0.2.1");
        set(control, "policy:vote", key.canonical(), "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        set(control, "policy:vote", "198.51.100.7", "blocked", soon(), "op", "");
        control.remove("policy:vote", key.canonical(), "op", "");
        await("removed", () -> entries(one).size() == 1 && answers(control).containsValue(""));
        String all = new Entry("all", "", "off", tomorrow(), "mallory", "").line();
        String old = signed(1, "", new Entry("policy:vote", key.canonical(), "unlimited", soon(), "op", ""))
                .entries();
        for (String forged : List.of(all, old, "")) {
            write("entries:3", forged);
            // Another instance reads them anew.
            Limiter other = instance(OLD, OWN);
            await("it says so", () -> findings(other).contains("RL-502"));
            assertTrue(entries(other).isEmpty());
        }
        assertFalse(one.tryAcquire("vote", PartitionKey.of("198.51.100.7"), 1).allowed());
        assertEquals(Decision.Source.REDIS, one.tryAcquire("vote", key, 1).source());
        // Who publishes the text again, and sets them again, has repaired it.
        assertEquals(4, control.publish(TEXT, "alice", "", 0));
        set(control, "policy:vote", "198.51.100.7", "blocked", soon(), "op", "");
        await("it is well", () -> findings(one).equals("[]") && entries(one).size() == 1);
    }

    /** One that a later version has set, of a form that is not known here, keeps no other one from its beginning or its end. */
    @Test
    void anOverrideOfAnotherForm() throws Exception {
        Limiter one = instance(OLD, OWN);
        Entry known = new Entry("policy:vote", "a", "blocked", soon(), "op", "");
        String lines = "policy:vote\tb\tblocked\tlater\n" + known.line();
        String body = Signer.hash(lines) + " " + known.untilMicros() + "\n" + TEXT;
        String head = new Signer(group, SECRET).signed("1 " + Signer.hash(body));
        plant(OLD, new Published.Stored(head + "\n" + body, lines));
        await(
                "the known one",
                () -> entries(one).equals(Set.of(known)) && findings(one).contains("RL-503"));
        assertTrue(limits(one, "vote").contains("[20/1m"));
        plant(OLD, signed(2, TEXT));
        await("ended", () -> entries(one).isEmpty() && findings(one).equals("[]"));
    }

    /** A text under a signature that is right, of a form that only a later version knows. */
    @Test
    void aTextOfAnotherForm() throws Exception {
        Limiter one = instance(OLD, OWN);
        String body = "2\n" + TEXT;
        String head = new Signer(group, SECRET).signed("1 " + Signer.hash(body));
        assertNotTaken(one, new Published.Stored(head + "\n" + body, ""), "RL-503");
        assertRefused("RL-503", () -> control(OLD).text());
    }
}
