package io.limiter.example.fair.worker;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A process that runs the {@code main} of a worker. It ends with the process that started it, however that one ends. */
public final class WorkerProcess {
    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    /** Starts a worker: its main class, with the arguments. */
    public static WorkerProcess start(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx96m",
                "-Dlogback.configurationFile=worker-logback.xml",
                "-cp",
                classPath(),
                main.getName()));
        command.addAll(List.of(arguments));
        try {
            return new WorkerProcess(new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("a worker did not start", e);
        }
    }

    /** The classes of this application, also where Maven runs it in its own process, with a class loader for it. */
    private static String classPath() {
        if (WorkerProcess.class.getClassLoader() instanceof URLClassLoader loader) {
            return Arrays.stream(loader.getURLs())
                    .map(WorkerProcess::file)
                    .collect(Collectors.joining(File.pathSeparator));
        }
        return System.getProperty("java.class.path");
    }

    private static String file(URL url) {
        try {
            URI uri = url.toURI();
            return Path.of(uri).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(url.toString(), e);
        }
    }

    /**
     * For the {@code main} of a worker: connects it to Redis, and ends it when the process that started it has ended.
     *
     * @param watchdog after how long a lock that its holder no longer renews becomes free
     */
    public static RedissonClient connect(String address, Duration watchdog) {
        Thread parent = new Thread(WorkerProcess::haltWithParent, "parent");
        parent.setDaemon(true);
        parent.start();
        Config config = new Config().setCodec(StringCodec.INSTANCE).setLockWatchdogTimeout(watchdog.toMillis());
        config.useSingleServer()
                .setAddress(address)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config.setThreads(2).setNettyThreads(2));
    }

    /** The pipe from the parent ends when that process does, also by kill -9. */
    private static void haltWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is sent.
            }
        } catch (IOException ended) {
            // As its end.
        }
        Runtime.getRuntime().halt(0);
    }

    /** kill -9; returns when the process has ended. */
    public void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Stops the process where it is ({@code SIGSTOP}), as a long pause of its JVM or its machine does. */
    public void freeze() {
        signal("STOP");
    }

    /** Continues it ({@code SIGCONT}). */
    public void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                    .inheritIO()
                    .start()
                    .onExit()
                    .join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }
}
