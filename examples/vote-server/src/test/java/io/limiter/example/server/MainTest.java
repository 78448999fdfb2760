package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    @Test
    void thePortIs8080WhenNoneIsSaid() {
        assertEquals(8080, Main.port(null));
        assertEquals(8080, Main.port(" "));
        assertEquals(9090, Main.port("9090"));
        assertEquals(0, Main.port("0"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "-1", "65536", "80 80", "8080.0"})
    void aPortThatIsNoneIsToldWithItsValue(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> Main.port(text))
                .getMessage();
        assertTold(message, "PORT", "'" + text + "'", "from 0", "65535", "8080");
    }

    @Test
    void aWebApplicationThatIsNotThereIsTold() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> Main.main(new String[] {"nowhere/vote-webapp.war"}))
                .getMessage();
        assertTold(message, "'nowhere/vote-webapp.war'", "path of vote-webapp.war", "'mvn package'");
    }

    @Test
    void aPortThatIsTakenIsTold() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"))) {
            Path war = Path.of(System.getProperty("vote.war"));
            String message = assertThrows(
                            IllegalStateException.class, () -> VoteServer.start(war, taken.getLocalPort()))
                    .getMessage();
            assertTold(message, "port " + taken.getLocalPort(), "does not start", "set PORT");
        }
    }

    /** What was found and what to do, whatever the words. */
    private static void assertTold(String message, String... facts) {
        for (String fact : facts) {
            assertTrue(message.contains(fact), () -> fact + " in: " + message);
        }
    }

    /** As users start and end it. */
    @Test
    void aProcessListensServesAndEndsOnSigterm() throws Exception {
        try (ServerProcess server = ServerProcess.start(Map.of())) {
            assertEquals(200, Caller.call("GET", "/", server.port()).statusCode());
            assertTrue(server.end(), "the server did not end on SIGTERM");
        }
    }
}
