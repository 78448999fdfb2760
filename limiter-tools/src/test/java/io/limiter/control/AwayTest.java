package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.OwnRedis;
import org.junit.jupiter.api.Test;

/** Redis is stopped, restarted, and loses its data. */
class AwayTest extends ControlFixture {
    private final OwnRedis server = open(OwnRedis.start());
    private final String address = server.address();

    private LimiterConfig.Builder config() {
        return config(address).property("limiter.redis.startup-wait", "100ms");
    }

    @Test
    void anInstanceThatStartsWithoutRedis() throws Exception {
        Control control = control(address);
        Limiter running = instance(config(), "limiter.policies.vote.limits = 2/1m");
        control.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "", 0);
        await("in force", () -> limits(running, "vote").contains("20/1m"));
        server.close();

        Limiter started = instance(config(), "limiter.policies.vote.limits = 2/1m");
        assertTrue(limits(started, "vote").contains("[2/1m"));
        await("it says so", () -> findings(started).contains("RL-501"));

        // Redis comes back without its data: what is in force stays.
        open(OwnRedis.at(server.port));
        await(
                "it is read",
                () -> !findings(started).contains("RL-501")
                        && !findings(running).contains("RL-501"));
        await("it says so", () -> findings(running).contains("RL-506"));
        assertTrue(limits(running, "vote").contains("20/1m"));
        Control again = control(address);
        // Above the version that an instance has.
        assertEquals(2, again.publish("limiter.policies.vote.limits = 30/1m\n", "alice", "", 0));
        await(
                "both take it",
                () -> limits(running, "vote").contains("30/1m")
                        && limits(started, "vote").contains("30/1m"));
    }

    /** Old instances that do not know a key of a new text keep theirs, and say why. */
    @Test
    void aRollingUpgrade() throws Exception {
        Control control = control(address);
        Limiter old = instance(config(), "limiter.policies.vote.limits = 2/1m");
        control.publish("limiter.policies.vote.limits = 20/1m\n", "alice", "", 0);
        await("in force", () -> limits(old, "vote").contains("20/1m"));
        // As a publisher of a later version would do it, whose table of properties has that key.
        plant(address, signed(2, "limiter.policies.vote.limits = 30/1m\nlimiter.policies.vote.jitter = 5s\n"));
        String why = refusal(control);
        assertTrue(why.contains("RL-101"), why);
        assertTrue(limits(old, "vote").contains("20/1m"));
        Control.Instance shown = control.instances().get(0);
        assertEquals(1, shown.version());
        assertFalse(shown.isCurrent());
    }
}
