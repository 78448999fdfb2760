package io.limiter.example.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.ThreadLocalLeakPreventionListener;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A web application that is stopped and started again in one Tomcat, on Redis, leaves nothing behind. */
@Tag("long")
@Isolated("counts the threads of this JVM")
@Timeout(240)
class RedeployTest {
    /** -Dlimiter.redeploys=20 */
    private static final int TIMES = Integer.getInteger("limiter.redeploys", 3);

    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private TestRedis redis;

    @BeforeEach
    void startRedis() throws IOException {
        redis = TestRedis.start(directory);
    }

    @AfterEach
    void stopRedis() throws IOException {
        redis.close();
    }

    /** Redisson in the lib folder of the Tomcat, and in that of the web application. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noThreadNoConnectionAndNoClassLoaderStays(boolean redissonInside) throws Exception {
        Path webApp = Files.createDirectories(directory.resolve("app"));
        WebAppFolder unpacked = WebAppFolder.unpack(webApp);
        if (redissonInside) {
            unpacked.withRedisson();
        }
        unpacked.properties("""
                limiter.backend = redis
                limiter.redis.address = redis://127.0.0.1:%d
                limiter.redis.deadline = 30s
                limiter.redis.startup-wait = 30s
                limiter.reload.interval = 1s
                limiter.rules.vote.path = /api/votes
                limiter.rules.vote.limits = 3/1h
                limiter.rules.vote.on-failure = allow
                """.formatted(redis.port()));
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("maxThreads", "3");
        // As every Tomcat has it in its server.xml: renews the request threads, in which Netty leaves thread-locals.
        tomcat.getServer().addLifecycleListener(new ThreadLocalLeakPreventionListener());
        Files.createDirectories(directory.resolve("webapps"));
        Context context = tomcat.addWebapp("", webApp.toString());
        context.setParentClassLoader(RedeployTest.class.getClassLoader());
        context.addLifecycleListener(VoteServer::withoutJsp);
        ((StandardContext) context).setClearReferencesRmiTargets(false);
        ((StandardContext) context).setClearReferencesThreadLocals(false);
        tomcat.start();
        try {
            for (int i = 0; i < TIMES; i++) {
                assertEquals(LifecycleState.STARTED, context.getState());
                loaders.add(new WeakReference<>(context.getLoader().getClassLoader()));
                // The state is in Redis, so it outlives the application: three pass in all.
                assertEquals(
                        i == 0 ? 3 : 0,
                        Caller.with(
                                        200,
                                        Caller.burst(
                                                30,
                                                "POST",
                                                "/api/votes?for=tea",
                                                tomcat.getConnector().getLocalPort()))
                                .size());
                context.stop();
                Await.until(
                        LONG,
                        () -> "no threads but " + threads(),
                        () -> threads().isEmpty());
                // The one that remains is the one that asks.
                Await.until(LONG, () -> "one connection to Redis", () -> connections() == 1);
                if (i < TIMES - 1) {
                    context.start();
                }
            }
            // Not the first: Netty keeps one stack trace of its own start. Not the last: the JDK keeps the last record
            // type.
            List<WeakReference<ClassLoader>> gathered = new ArrayList<>(loaders.subList(1, TIMES - 1));
            context.start();
            Await.until(LONG, () -> "class loaders of stopped applications are gone: " + gathered, () -> {
                // Tomcat renews a request thread, and what Netty left in it, when that has its next request.
                Caller.burst(
                        30, "POST", "/api/votes?for=tea", tomcat.getConnector().getLocalPort());
                System.gc();
                gathered.removeIf(loader -> loader.get() == null);
                return gathered.isEmpty();
            });
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    private int connections() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", redis.port())) {
            socket.getOutputStream().write("CLIENT LIST\r\nQUIT\r\n".getBytes(StandardCharsets.US_ASCII));
            String reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return (int) reply.lines().filter(line -> line.contains("addr=")).count();
        }
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("limiter-") || name.startsWith("redisson-"))
                .toList();
    }
}
