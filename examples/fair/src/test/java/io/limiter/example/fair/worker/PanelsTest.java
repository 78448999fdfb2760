package io.limiter.example.fair.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.FairSite;
import io.limiter.kit.Await;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a visitor does on the panels, with the workers that the site starts. */
class PanelsTest {
    private static FairSite site;

    @BeforeAll
    static void start() {
        TestRedis.without("tasks").shutdown();
        TestRedis.without("lock").shutdown();
        TestRedis.without("orders").shutdown();
        // This test polls faster than a visitor is allowed to.
        site = FairSite.start("fair.tasks.lease=1s", "limiter.rules.reads.limits=100000/1s token-bucket");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    private static JsonNode see(String system) {
        return site.get("/api/" + system).json();
    }

    private static String does(String path, String json) {
        FairSite.Answer answer = site.post("/api/" + path, json);
        assertEquals(200, answer.status(), answer.body());
        return answer.json().at("/text").asString();
    }

    @Test
    void tasksAreDoneThoughTheirWorkerIsKilled() {
        does("tasks/clear", "{}");
        does("tasks/many", "{\"count\":600}");
        assertEquals(400, site.post("/api/tasks/many", "{\"count\":5001}").status());
        does("tasks/worker", "{}");
        Await.until(
                TestRedis.LONG,
                "it is at work",
                () -> see("tasks").at("/leased").asInt() > 0);
        assertTrue(does("tasks/kill", "{}").contains("was killed"));
        assertEquals(0, see("tasks").at("/workers").size());
        does("tasks/worker", "{}");

        Await.until(
                TestRedis.LONG,
                "all are done",
                () -> see("tasks").at("/effects").asInt() == 600);

        assertEquals(0, see("tasks").at("/notOnce").asInt());
        does("tasks/reserve", "{}");
        assertEquals("seat-1 is paid.", does("tasks/pay", "{\"id\":\"seat-1\"}"));
        assertEquals("paid", see("tasks").at("/reservations/seat-1").asString());
        does("tasks/evening", "{}");
        assertEquals(3, see("tasks").at("/evening").size());
        does("tasks/kill", "{}");
    }

    @Test
    void theHolderOfTheLockIsKilledAndFrozen() {
        assertTrue(does("lock/kill", "{}").contains("No process"));
        does("lock/worker", "{}");
        Await.until(
                TestRedis.LONG,
                "it counts",
                () -> see("lock").at("/by").asString().length() > 0);
        String killed = process(does("lock/kill", "{}"), "was killed");

        Await.until(
                TestRedis.LONG,
                "the other one counts",
                () -> !see("lock").at("/by").asString().equals(killed));

        assertNotEquals(killed, process(does("lock/freeze", "{}"), "is frozen"));
        does("lock/thaw", "{}");
        assertEquals(1, see("lock").at("/workers").size());
        does("lock/kill", "{}");
    }

    /** The id in a text such as "Process 12 was killed." */
    private static String process(String said, String what) {
        assertTrue(said.contains(what), said);
        return said.split(" ")[1];
    }

    @Test
    void ordersArePrintedOnceThoughTheirWorkerIsKilled() {
        does("orders/clear", "{}");
        does("orders/place", "{}");
        does("orders/worker", "{}");
        Await.until(
                TestRedis.LONG,
                "it prints",
                () -> see("orders").at("/queues/1/inWork").asInt() > 0);
        does("orders/kill", "{}");
        does("orders/worker", "{}");

        Await.until(
                TestRedis.LONG,
                "all are printed",
                () -> see("orders").at("/queues/1/printed").asInt() == 10);

        assertEquals(10, see("orders").at("/placed").asInt());
        assertEquals(0, see("orders").at("/queues/1/unknown").asInt());
        does("orders/kill", "{}");
    }
}
