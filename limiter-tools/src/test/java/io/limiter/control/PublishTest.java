package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.ConfigException;
import io.limiter.kit.AtOnce;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A text is published for a group, taken by its instances as a whole, and rolled back. */
class PublishTest extends ControlFixture {
    private static final String ADDRESS = RedisServers.single();
    private final Control control = control(ADDRESS);

    @Test
    void aTextLiesOverTheOwnConfigurationKeyByKey() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 2/1m", "limiter.policies.read.limits = 5/1m");
        assertEquals(1, control.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "night", 0));
        await("the version", () -> limits(one, "vote").contains("20/1m"));
        assertTrue(limits(one, "read").contains("5/1m"), limits(one, "read"));
        assertEquals("published version 1 line 1", one.config().origins().get("limiter.policies.vote.limits"));
        assertEquals("code", one.config().origins().get("limiter.policies.read.limits"));

        assertEquals(2, control.publish("limiter.policies.read.limits = 50/1m\n", "bob", "", 1));
        await("a key that is gone falls back", () -> limits(one, "vote").contains("[2/1m"));
        assertTrue(limits(one, "read").contains("50/1m"));
        assertEquals("", refusal(control));
        String name = control.instances().get(0).name();
        assertTrue(name.matches(".+-\\d+-[0-9a-f]{8}"), name);

        assertEquals(3, control.rollBack(1, "alice", "back"));
        await(
                "rolled back",
                () -> limits(one, "vote").contains("20/1m")
                        && limits(one, "read").contains("[5/1m"));
        assertEquals(
                List.of(
                        "back to version 1: limiter.policies.read.limits: 50/1m -> (own);"
                                + " limiter.policies.vote.limits: (own) -> 20/1m",
                        "limiter.policies.vote.limits: 20/1m -> (own); limiter.policies.read.limits: (own) -> 50/1m",
                        "limiter.policies.vote.limits: (own) -> 20/1m"),
                control.versions(10).stream().map(Control.Version::change).toList());
    }

    /** The first version too: what was before it is nothing. */
    @ParameterizedTest
    @EnumSource
    void theFirstVersionIsRolledBackToo(RedisClientKind client) throws Exception {
        Control over = opened(client.builder().address(ADDRESS), SECRET);
        Limiter one = instance(
                config(ADDRESS).property("limiter.redis.client", client.name().toLowerCase(Locale.ROOT)),
                "limiter.policies.vote.limits = 2/1m");
        assertEquals(1, over.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "", 0));
        await("the version", () -> limits(one, "vote").contains("20/1m"));
        assertEquals(2, over.rollBack(0, "alice", ""));
        await("its own", () -> limits(one, "vote").contains("[2/1m"));
        assertEquals("", refusal(over));
    }

    @Test
    void mistakesAreRefusedBeforeTheyArePublished() {
        ConfigException refused = assertThrows(
                ConfigException.class,
                () -> control.publish(
                        "limiter.policies.vote.limits = 20 per minute\nlimiter.polices.x.limits = 1/1s\n"
                                + "limiter.instances = 3\n",
                        "alice",
                        "",
                        0));
        assertEquals(3, refused.problems().size(), refused.getMessage());
        assertEquals(0, control.version());
    }

    @Test
    void whatDoesNotFitIsRefusedAsAWhole() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 2/1m");
        String text = "limiter.policies.vote.limits = 20/1m\nlimiter.rules.login.policy = vote\n";
        control.publish(text, "alice", "", 0);
        String refused = refusal(control);
        assertTrue(refused.contains("RL-105"), refused);
        assertTrue(limits(one, "vote").contains("[2/1m"));
        control.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "", 1);
        assertEquals("", refusal(control));
        assertTrue(limits(one, "vote").contains("20/1m"));
    }

    @Test
    void ofTwoPublishersAtOnceOneWins() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 2/1m");
        List<Control> publishers = List.of(control, control(ADDRESS));
        for (long based = 0; based < 5; based++) {
            AtomicInteger lost = new AtomicInteger();
            long seen = based;
            AtOnce.run(2, thread -> {
                String text = "limiter.policies.vote.limits = " + (seen + 7) + "/1m\n# " + thread + "\n";
                try {
                    publishers.get(thread).publish(text, "op" + thread, "", seen);
                } catch (Control.ConflictException other) {
                    lost.incrementAndGet();
                }
            });
            assertEquals(1, lost.get());
            assertEquals(based + 1, control.version());
            assertEquals("", refusal(control));
            assertTrue(limits(one, "vote").contains("[" + (based + 7) + "/1m"));
        }
    }

    @Test
    void whatWasReplacedIsNotUndoneByAReload() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 2/1m", "limiter.policies.read.limits = 5/1m");
        control.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "", 0);
        await("the version", () -> limits(one, "vote").contains("20/1m"));
        one.replace(
                with(config(ADDRESS), "limiter.policies.vote.limits = 3/1m", "limiter.policies.read.limits = 6/1m"));
        assertTrue(limits(one, "vote").contains("20/1m"));
        assertTrue(limits(one, "read").contains("[6/1m"));
    }
}
