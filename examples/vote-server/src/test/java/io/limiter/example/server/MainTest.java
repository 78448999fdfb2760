package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
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
        assertEquals(
                "PORT is '" + text + "'; write a number from 0 (any free port) to 65535, or leave it out for 8080",
                message);
    }

    @Test
    void aWebApplicationThatIsNotThereIsTold() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> Main.main(new String[] {"nowhere/vote-webapp.war"}))
                .getMessage();
        assertTrue(message.startsWith("there is no web application at 'nowhere/vote-webapp.war'"), message);
    }

    @Test
    void aPortThatIsTakenIsTold() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"))) {
            Path war = Path.of(System.getProperty("vote.war"));
            String message = assertThrows(
                            IllegalStateException.class, () -> VoteServer.start(war, taken.getLocalPort()))
                    .getMessage();
            assertTrue(message.startsWith("the server does not start on port " + taken.getLocalPort()), message);
        }
    }
}
