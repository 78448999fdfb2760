package io.limiter.faults;

import io.limiter.kit.Harm;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** What goes wrong with one server, or on the way to it. */
final class ServerFaults {
    private static final Supplier<ServerStage> PLAIN = ServerStage::plain;
    private static final Supplier<ServerStage> WIRED = ServerStage::wired;
    /** More than the deadline. */
    private static final Duration DELAY = Duration.ofMillis(120);

    static final Fault<ServerStage> STOPPED =
            Fault.of("SIGSTOP", PLAIN, (s, lasts) -> s.signal("STOP"), (s, lasts) -> s.signal("CONT"));
    static final Fault<ServerStage> KILLED_WITH_ITS_DATA = Fault.of(
            "kill -9, append-only file",
            ServerStage::persistent,
            (s, lasts) -> s.signal("KILL"),
            (s, lasts) -> s.restart());
    static final Fault<ServerStage> SCRIPTS_FLUSHED = Fault.loop(
            "SCRIPT FLUSH in a loop",
            PLAIN,
            (s, lasts) -> s.admin().ask("SCRIPT", "FLUSH"),
            (s, lasts) -> s.admin().expectErrors("NOSCRIPT"));
    static final Fault<ServerStage> READ_ONLY = Fault.of(
            "REPLICAOF, read-only",
            PLAIN,
            (s, lasts) -> s.admin().ask("REPLICAOF", "127.0.0.1", Integer.toString(RedisServers.freePort())),
            (s, lasts) -> s.admin().ask("REPLICAOF", "NO", "ONE"));
    static final Fault<ServerStage> GARBLED = wire("replies garbled", Harm.garble());

    private ServerFaults() {}

    static List<Fault<ServerStage>> all() {
        return List.of(
                STOPPED,
                Fault.losing(
                        "kill -9, no persistence", PLAIN, (s, lasts) -> s.signal("KILL"), (s, lasts) -> s.restart()),
                KILLED_WITH_ITS_DATA,
                Fault.of(
                        "CLIENT PAUSE",
                        PLAIN,
                        (s, lasts) -> s.admin().ask("CLIENT", "PAUSE", Long.toString(lasts.toMillis())),
                        (s, lasts) -> s.awaitAnswer()),
                Fault.of(
                        "DEBUG SLEEP",
                        PLAIN,
                        (s, lasts) -> s.askMeanwhile("DEBUG", "SLEEP", Double.toString(lasts.toMillis() / 1_000.0)),
                        (s, lasts) -> s.awaitAnswer()),
                SCRIPTS_FLUSHED,
                Fault.of(
                        "maxmemory reached",
                        PLAIN,
                        (s, lasts) -> s.admin().ask("CONFIG", "SET", "maxmemory", "1"),
                        (s, lasts) -> s.admin().ask("CONFIG", "SET", "maxmemory", "0")),
                READ_ONLY,
                Fault.loop(
                        "CLIENT KILL in a loop", PLAIN, (s, lasts) -> s.admin().killConnections(), (s, lasts) -> {}),
                Fault.of(
                        "password changed",
                        PLAIN,
                        (s, lasts) -> {
                            s.admin().ask("ACL", "SETUSER", ServerStage.USER, "resetpass", ">other");
                            s.admin().killConnections();
                        },
                        (s, lasts) -> s.admin().ask("ACL", "SETUSER", ServerStage.USER, ">" + ServerStage.PASSWORD)),
                Fault.of(
                        "ACL narrowed",
                        PLAIN,
                        (s, lasts) -> s.admin().ask("ACL", "SETUSER", ServerStage.USER, "-@scripting"),
                        (s, lasts) -> s.admin().ask("ACL", "SETUSER", ServerStage.USER, "+@all")),
                Fault.of(
                        "maxclients reached",
                        PLAIN,
                        (s, lasts) -> {
                            s.admin().ask("CONFIG", "SET", "maxclients", "1");
                            s.admin().killConnections();
                        },
                        (s, lasts) -> s.admin().ask("CONFIG", "SET", "maxclients", "1000")),
                Fault.of(
                        "black hole",
                        WIRED,
                        (s, lasts) -> s.wire().cut(),
                        (s, lasts) -> s.wire().repair()),
                stall("5s", 100),
                stall("50ms", 0),
                wire("replies delayed by " + DELAY.toMillis() + " ms", Harm.delay(DELAY)),
                wire("replies truncated", Harm.truncate()),
                wire("replies reset", Harm.reset()),
                GARBLED);
    }

    /** Neither its callers nor its connections run meanwhile; answers wait to be read. */
    private static Fault<ServerStage> stall(String deadline, int leastByRedis) {
        return Fault.mild(
                "this JVM stalls for 1.5 s, deadline " + deadline,
                leastByRedis,
                () -> ServerStage.plain(deadline),
                (s, lasts) -> stallThisJvm(),
                (s, lasts) -> s.awaitAnswer());
    }

    private static void stallThisJvm() throws IOException, InterruptedException {
        String pid = Long.toString(ProcessHandle.current().pid());
        String text = "kill -STOP " + pid + "; sleep 1.5; kill -CONT " + pid;
        new ProcessBuilder("sh", "-c", text).inheritIO().start().waitFor();
    }

    private static Fault<ServerStage> wire(String name, Harm harm) {
        return Fault.of(
                name,
                WIRED,
                (s, lasts) -> s.wire().harm(harm),
                (s, lasts) -> s.wire().harm(Harm.NONE));
    }
}
