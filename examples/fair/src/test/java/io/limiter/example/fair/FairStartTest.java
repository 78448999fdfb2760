package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** The site starts with a redis-server of its own, or on a given one; two on one Redis share what they see. */
class FairStartTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void withoutAnAddressItBringsARedisServerAndStopsIt() {
        String address;
        try (FairSite site = FairSite.start("redis=")) {
            address = site.bean(RedisAddress.class).address();
            assertTrue(!address.equals(RedisServers.single()), address);
            assertEquals(200, site.get("/").status());
            site.bean(RedissonClient.class).getBucket("fair:shell:x").set("1");
            assertEquals(
                    "fair:shell:x",
                    site.get("/api/redis/shell").json().at("/keys/0/name").asString());
        }
        Await.until(LONG, "its redis-server has ended", () -> !listens(address));
    }

    /** As a user meets it: a line with the port and the way to another one, and no stack trace. */
    @Test
    void aTakenPortIsNamedWithTheWayToAnother() throws Exception {
        try (ServerSocket other = new ServerSocket(0)) {
            Process process = FairSite.launch("server.port=" + other.getLocalPort());
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertEquals(1, process.waitFor(), output);
            assertTrue(output.contains("Port " + other.getLocalPort() + " is taken"), output);
            assertTrue(output.contains("mvn -Pfair package -Dserver.port=9000"), output);
            assertTrue(!output.contains("\tat "), output);
        }
    }

    /** The command of design/articles.md starts this class, with this module's profile. */
    @Test
    void theCommandIsThatOfTheProfile() throws IOException {
        assertTrue(Files.readString(Path.of("../../design/articles.md")).contains("    mvn -Pfair package\n"));
        String pom = Files.readString(Path.of("pom.xml"));
        assertTrue(pom.contains("<mainClass>" + Fair.class.getName() + "</mainClass>"));
        for (String file : List.of("pom.xml", "../pom.xml", "../../pom.xml")) {
            assertTrue(Files.readString(Path.of(file)).contains("<id>fair</id>"), file);
        }
    }

    /** Two instances, one of them a process of its own: what one writes the other shows, and a killed one leaves no harm. */
    @Test
    void twoInstancesOnOneRedisShareEverything() throws Exception {
        try (FairSite one = FairSite.start();
                FairSite other = FairSite.process()) {
            String visitor = "{\"visitor\":\"two-instances\"}";
            one.post("/api/sale/reset", "{}");
            assertTrue(other.post("/api/sale/buy", visitor).body().contains("\"bought\":true"));
            assertEquals(
                    "held",
                    one.get("/api/sale?visitor=two-instances")
                            .json()
                            .at("/mine")
                            .asString());

            other.kill();

            assertTrue(one.post("/api/sale/pay", visitor).body().contains("true"));
            assertEquals(
                    "paid",
                    one.get("/api/sale?visitor=two-instances")
                            .json()
                            .at("/mine")
                            .asString());
            one.post("/api/sale/reset", "{}");
        }
    }

    private static boolean listens(String address) {
        int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
        try (Socket socket = new Socket("127.0.0.1", port)) {
            return socket.isConnected();
        } catch (IOException none) {
            return false;
        }
    }

    @Test
    void thePictureShowsTheKeysAndCommandsOfASystemAndNotItsOwn() {
        try (FairSite site = FairSite.start()) {
            RedissonClient redis = site.bean(RedissonClient.class);
            site.get("/api/redis/shell");
            redis.getBucket("fair:{shell}:text").set("abc", Duration.ofSeconds(100));
            redis.getList("fair:shell:list").add("one");
            redis.getList("fair:other:list").add("one");

            Await.until(
                    LONG,
                    "both commands are shown",
                    () -> site.get("/api/redis/shell").json().at("/commands").size() >= 2);
            var picture = site.get("/api/redis/shell").json();
            assertEquals(2, picture.at("/commands").size(), picture.toString());
            assertEquals("RPUSH fair:shell:list one", picture.at("/commands/0").asString());
            assertEquals(2, picture.at("/keys").size());
            assertEquals("fair:shell:list", picture.at("/keys/0/name").asString());
            assertEquals("list", picture.at("/keys/0/type").asString());
            assertEquals(1, picture.at("/keys/0/size").asLong());
            assertEquals(-1, picture.at("/keys/0/ttlSeconds").asLong());
            assertEquals(3, picture.at("/keys/1/size").asLong());
            assertTrue(picture.at("/keys/1/ttlSeconds").asLong() > 60);
            redis.getKeys().delete("fair:{shell}:text", "fair:shell:list", "fair:other:list");
        }
    }
}
