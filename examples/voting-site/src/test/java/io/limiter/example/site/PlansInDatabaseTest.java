package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Plans in a real database that is well, down, slow or wrong: every request is limited. Public for the database. */
@Tag("long")
public class PlansInDatabaseTest {
    private static final AtomicInteger LOOKUPS = new AtomicInteger();
    private static volatile CountDownLatch slow = new CountDownLatch(0);

    private Site site;
    private final Browser browser = new Browser();

    @AfterEach
    void stop() throws SQLException {
        slow.countDown();
        if (site != null) {
            site.close();
        }
        // The database outlives its pool.
        execute("drop all objects delete files");
    }

    /** Called by the database. */
    public static String lookedUp(String plan) throws InterruptedException {
        LOOKUPS.incrementAndGet();
        slow.await(60, TimeUnit.SECONDS);
        return plan;
    }

    private static void execute(String... lines) throws SQLException {
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:customers;DB_CLOSE_DELAY=-1", "sa", "");
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String line : lines) {
                statement.execute(line);
            }
        } finally {
            pool.dispose();
        }
    }

    private void start(String... properties) throws SQLException {
        site = Site.startWithStillTime(properties);
        execute(
                "create alias looked_up for '" + PlansInDatabaseTest.class.getName() + ".lookedUp'",
                "alter table customer rename to customers",
                "create view customer as select api_key, looked_up(plan) as plan from customers");
        LOOKUPS.set(0);
    }

    /** How many of 110 requests are allowed. */
    private long allowed(String key) {
        return IntStream.range(0, 110)
                .filter(i -> browser.get(site.port(), "/api/export", "X-Api-Key", key)
                                .status()
                        == 200)
                .count();
    }

    @Test
    void aCustomerHasTheLimitsOfItsPlan() throws SQLException {
        start("limiter.plan-lookup.wait=10s");
        assertEquals(100, allowed("key-of-a-newspaper"));
        assertEquals(3, allowed("key-of-a-student"));
        assertEquals(3, allowed("nobody"));
        assertEquals(2, LOOKUPS.get(), "of 330 requests; the third key is not in the table");
    }

    @Test
    void withoutItsDatabaseEveryRequestIsLimited() throws SQLException {
        start("limiter.plan-lookup.wait=10s");
        execute("drop view customer");
        assertEquals(3, allowed("key-of-a-newspaper"));
    }

    @Test
    void aSlowDatabaseDelaysOneRequestForAMoment() throws SQLException {
        start();
        slow = new CountDownLatch(1);
        long began = System.nanoTime();
        assertEquals(3, allowed("key-of-a-newspaper"));
        assertTrue(System.nanoTime() - began < Duration.ofSeconds(60).toNanos());
        assertTrue(LOOKUPS.get() <= 1, LOOKUPS::toString);
    }

    @Test
    void aPlanThatIsNotConfiguredIsTheDefaultPlan() throws SQLException {
        start("limiter.plan-lookup.wait=10s");
        execute("update customers set plan = 'platinum'");
        assertEquals(3, allowed("key-of-a-newspaper"));
    }
}
