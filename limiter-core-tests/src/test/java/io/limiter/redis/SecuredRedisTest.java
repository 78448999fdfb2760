package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.Pages;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import io.limiter.kit.door.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;
import redis.embedded.RedisServer;

/** Logins, TLS and the least that a user of Redis must be allowed: what docs/operations describes, on real servers. */
class SecuredRedisTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String PASSWORD = "s3c/r@t: %41";

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void aPasswordWithEveryOddCharacterByItselfOrInTheAddress(RedisClientKind client) {
        try (OwnRedis own = OwnRedis.start("requirepass \"" + PASSWORD + "\"")) {
            decides(client.builder().address(own.address()).credentials(null, PASSWORD));
            decides(client.builder().address("redis://:s3c%2Fr%40t%3A%20%2541@127.0.0.1:" + own.port));
        }
    }

    @Test
    void credentialsAreForAddresses() {
        RedisBackend.Builder builder = RedisBackend.builder()
                .yaml("singleServerConfig:\n  address: redis://a:1\n")
                .credentials("u", "p");
        assertThrows(IllegalStateException.class, builder::build);
    }

    @ParameterizedTest
    @EnumSource
    void theDocumentedUserMayDoWhatTheLimiterDoes(RedisClientKind client) throws IOException {
        // Its own, to know its lines in the log.
        try (OwnRedis own = OwnRedis.start();
                LogLines log = new LogLines().about(":" + own.port)) {
            asUser(own.port, documented("limiter"), () -> {
                allAlgorithmsWork(client.builder().address(own.address()).credentials("limited", PASSWORD));
                assertEquals(
                        1,
                        log.of(Level.INFO, "connected to Redis at " + own.address())
                                .size(),
                        log::toString);
                nothingIsRefused(log);
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void onAClusterItMayAskForTheNodes(RedisClientKind client) throws IOException {
        List<String> rules = new ArrayList<>(documented("limiter"));
        rules.add("+cluster");
        for (int port : RedisServers.clusterPorts()) {
            setUser(port, rules);
        }
        // UnfitServerTest addresses the first one wrongly, which is logged too.
        try (LogLines log = new LogLines()
                .about(" at 127.0.0.1:" + RedisServers.clusterPorts().get(1))) {
            allAlgorithmsWork(client.builder().cluster(RedisServers.cluster()).credentials("limited", PASSWORD));
            nothingIsRefused(log);
        } finally {
            for (int port : RedisServers.clusterPorts()) {
                removeUser(port);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void behindSentinelsTheMasterKnowsTheUser(RedisClientKind client) throws IOException {
        asUser(RedisServers.sentinelMasterPort(), documented("limiter"), () -> {
            try (LogLines log = new LogLines().about(" at 127.0.0.1:" + RedisServers.sentinelMasterPort())) {
                allAlgorithmsWork(client.builder()
                        .sentinel(RedisServers.MASTER, List.of(RedisServers.sentinel()))
                        .credentials("limited", PASSWORD));
                nothingIsRefused(log);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void whoPreloadsTheScriptsNeedsNobodyWhoMayLoadThem(RedisClientKind client) throws IOException {
        try (Jedis redis = RedisServers.jedis()) {
            RedisBackend.scripts().values().forEach(redis::scriptLoad);
        }
        List<String> rules = documented("limiter").stream()
                .filter(rule -> !rule.equals("+script|load"))
                .toList();
        asUser(
                RedisServers.singlePort(),
                rules,
                () -> allAlgorithmsWork(
                        client.builder().address(RedisServers.single()).credentials("limited", PASSWORD)));
    }

    @Test
    void tlsWithACertificateThatIsCheckedAndAPassword() throws Exception {
        int port = RedisServers.freePort();
        Path trust = Tls.store();
        RedisServer server = startTls(port, trust);
        try {
            String yaml = """
                    sslTruststore: "%s"
                    sslTruststorePassword: %s
                    password: "%s"
                    singleServerConfig:
                      address: rediss://127.0.0.1:%d
                      connectionMinimumIdleSize: 1
                    """.formatted(trust.toUri(), Tls.PASSWORD, PASSWORD, port);
            decides(RedisBackend.builder().yaml(yaml));
            RedisBackend.Builder builder = RedisBackend.builder().address("rediss://127.0.0.1:" + port);
            distrusts(":" + port, builder.credentials(null, PASSWORD));
        } finally {
            RedisServers.stop(server);
        }
    }

    @Test
    void lettuceHasTheCertificatesOfTheGivenClient() throws Exception {
        int port = RedisServers.freePort();
        Path trust = Tls.store();
        RedisServer server = startTls(port, trust);
        RedisClient given = RedisClient.create();
        try {
            RedisURI at = RedisURI.create("rediss://127.0.0.1:" + port);
            at.setCredentialsProvider(new StaticCredentialsProvider(null, PASSWORD.toCharArray()));
            distrusts("RL-201", RedisBackend.builder().lettuce(given, at));
            given.setOptions(ClientOptions.builder()
                    .sslOptions(SslOptions.builder()
                            .keyStoreType("PKCS12")
                            .truststore(trust.toFile(), Tls.PASSWORD)
                            .build())
                    .build());
            decides(RedisBackend.builder().lettuce(given, at));
        } finally {
            given.shutdown();
            RedisServers.stop(server);
        }
    }

    /** A vault may take its time; calls have a deadline. */
    @Test
    void callersDoNotWaitForALogin() throws Exception {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port, "requirepass \"" + PASSWORD + "\"");
        RedisClient given = RedisClient.create();
        RedisCredentials login = RedisCredentials.just(null, PASSWORD);
        AtomicReference<CompletableFuture<RedisCredentials>> vault =
                new AtomicReference<>(CompletableFuture.completedFuture(login));
        RedisURI at = RedisURI.create("redis://127.0.0.1:" + port);
        at.setCredentialsProvider(() -> Mono.fromFuture(vault.get()));
        Policy policy = Policy.of("vault", Limit.slidingList(3, Duration.ofHours(1)));
        CompletableFuture<RedisCredentials> slow = new CompletableFuture<>();
        try (RedisBackend backend = RedisBackend.builder().lettuce(given, at).build();
                RateLimiter limiter = RateLimiters.on(backend);
                Jedis admin = RedisServers.jedis(port)) {
            admin.auth(PASSWORD);
            assertTrue(backend.awaitConnected(LONG));
            vault.set(slow);
            admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
            for (int i = 0; i < 20; i++) {
                CompletableFuture.supplyAsync(() -> limiter.tryAcquire(policy, KEY, 0))
                        .get(60, TimeUnit.SECONDS);
            }
            slow.complete(login);
            Await.until(
                    "it is logged in", () -> limiter.tryAcquire(policy, KEY, 0).source() == Decision.Source.REDIS);
        } finally {
            slow.complete(login);
            given.shutdown();
            RedisServers.stop(server);
        }
    }

    /** Where the password changes at run time, each new connection logs in with the one of now. */
    @Test
    void credentialsAreAskedForAtEachConnection() {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port, "requirepass first");
        RedisClient given = RedisClient.create();
        AtomicReference<String> password = new AtomicReference<>("first");
        RedisURI at = RedisURI.create("redis://127.0.0.1:" + port);
        at.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just(null, password.get())));
        Policy policy = Policy.of("renewed", Limit.slidingList(3, Duration.ofHours(1)));
        try (RedisBackend backend = RedisBackend.builder().lettuce(given, at).build();
                RateLimiter limiter = RateLimiters.on(backend);
                Jedis admin = RedisServers.jedis(port)) {
            admin.auth("first");
            assertTrue(backend.awaitConnected(LONG));
            admin.configSet("requirepass", "second");
            admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
            Await.until(
                    "the old password is refused",
                    () -> backend.health().findings().stream().anyMatch(line -> line.contains("RL-202"))
                            || limiter.tryAcquire(policy, KEY, 0).source() != Decision.Source.REDIS);
            password.set("second");
            Await.until(
                    "it logs in with the new one",
                    () -> limiter.tryAcquire(policy, KEY, 0).source() == Decision.Source.REDIS);
        } finally {
            given.shutdown();
            RedisServers.stop(server);
        }
    }

    /** Nobody has signed its certificate. */
    private static void distrusts(String about, RedisBackend.Builder builder) {
        try (LogLines log = new LogLines().about(about);
                RedisBackend distrustful = builder.build()) {
            Await.until(
                    "RL-201 is logged",
                    () -> !log.of(Level.WARN, "RL-201 SSLHandshake").isEmpty());
            assertFalse(distrustful.awaitConnected(Duration.ofMillis(1)), "nobody signed this certificate");
            assertFalse(log.toString().contains(PASSWORD), log.toString());
        }
    }

    /** An attempt may time out, and a shared server be paused by another test, which does not depend on the user. */
    private static void nothingIsRefused(LogLines log) {
        assertEquals(
                List.of(),
                log.of(Level.WARN, "RL").stream()
                        .filter(line -> !line.matches("RL-(201|208|225) .*"))
                        .toList());
    }

    private static void decides(RedisBackend.Builder builder) {
        try (RateLimiter limiter = Backends.limiter(builder.deadline(Duration.ofSeconds(30)))) {
            Policy policy = Policy.of("secured", Limit.slidingList(3, Duration.ofHours(1)));
            assertEquals(
                    Decision.Source.REDIS, limiter.tryAcquire(policy, KEY, 1).source());
        }
    }

    private static void allAlgorithmsWork(RedisBackend.Builder builder) {
        try (RateLimiter limiter = Backends.limiter(builder.deadline(Duration.ofSeconds(30)))) {
            for (Algorithm algorithm : AnyAlgorithm.limits()) {
                Policy policy = Policy.of("acl-" + algorithm.text(), AnyAlgorithm.limit(algorithm, 2, 3_600_000_000L));
                Decision first = take(limiter, AnyAlgorithm.charge(policy, KEY, 1));
                assertTrue(first.allowed()
                        && take(limiter, AnyAlgorithm.charge(policy, KEY, 1)).allowed());
                assertFalse(take(limiter, AnyAlgorithm.charge(policy, KEY, 1)).allowed());
                assertTrue(limiter.refund(first));
                assertEquals(1, Looks.left(limiter, policy, KEY));
                limiter.reset(policy, KEY);
            }
            Policy named = Policy.of("acl-id", Limit.slidingZset(1, Duration.ofHours(1)));
            for (int i = 0; i < 2; i++) {
                assertTrue(take(limiter, new Charge(named, KEY, 1, "id")).allowed());
            }
            limiter.reset(named, KEY);
            assertEquals(List.of(), limiter.monitor().health().findings());
        }
    }

    private static Decision take(RateLimiter limiter, Charge charge) {
        Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(charge)));
        assertTrue(decision.source().isExact(), decision.toString());
        return decision;
    }

    /** The rules of the line in docs/operations/redis-access.md. */
    private static List<String> documented(String prefix) throws IOException {
        String page = Pages.text("operations");
        int from = page.indexOf("ACL SETUSER limiter on >password ");
        String line = page.substring(from, page.indexOf("\n\n", from)).replaceAll("\\s+", " ");
        List<String> words = Arrays.asList(line.split(" ", -1));
        assertTrue(words.contains("~" + prefix + ":*"), line);
        return words.subList(words.indexOf("~" + prefix + ":*"), words.size());
    }

    private interface Check {
        void run() throws IOException;
    }

    private static void asUser(int port, List<String> rules, Check check) throws IOException {
        setUser(port, rules);
        try {
            check.run();
        } finally {
            removeUser(port);
        }
    }

    private static void setUser(int port, List<String> rules) {
        try (Jedis redis = RedisServers.jedis(port)) {
            List<String> all = new ArrayList<>(List.of("reset", "on", ">" + PASSWORD));
            all.addAll(rules);
            redis.aclSetUser("limited", all.toArray(String[]::new));
        }
    }

    private static void removeUser(int port) {
        try (Jedis redis = RedisServers.jedis(port)) {
            redis.sendCommand(Protocol.Command.ACL, "DELUSER", "limited");
        }
    }

    /** A server with the key and the certificate of the file. */
    private RedisServer startTls(int port, Path keys) throws IOException, GeneralSecurityException {
        Path pem = Files.writeString(folder.resolve("redis.pem"), Tls.pem(keys));
        return RedisServers.startTls(port, pem, "requirepass \"" + PASSWORD + "\"");
    }
}
