package io.limiter.example.fair;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.RedisServers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * An instance that dies between two commands: a real client, whose connection to the tests' redis-server ends after a number of commands.
 * What Redis holds then is what a killed process leaves.
 */
public final class Crash implements AutoCloseable {
    private static final int MOST_COMMANDS = 200;

    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private int left = Integer.MAX_VALUE;
    private boolean reached;

    private Crash() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /**
     * Does something again and again: the first time it dies before its first command, then after one, and so on, until it comes to its end.
     *
     * @param before runs before each try, on a whole connection of its own
     * @param work what may die
     * @param after looks at what each try has left, given the number of commands that Redis has got
     */
    public static void afterEachCommand(Runnable before, Consumer<RedissonClient> work, IntConsumer after) {
        for (int commands = 0; commands < MOST_COMMANDS; commands++) {
            before.run();
            boolean ended = attempt(commands, work);
            after.accept(commands);
            if (ended) {
                assertTrue(commands > 0, "it has sent no command");
                return;
            }
        }
        throw new AssertionError("it has not ended after " + MOST_COMMANDS + " commands");
    }

    private static boolean attempt(int commands, Consumer<RedissonClient> work) {
        try (Crash crash = new Crash()) {
            RedissonClient client = crash.client();
            try {
                client.getKeys().count();
                crash.after(commands);
                work.accept(client);
                return !crash.isReached();
            } catch (RuntimeException died) {
                return false;
            } finally {
                client.shutdown();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private RedissonClient client() {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer()
                .setAddress("redis://127.0.0.1:" + listener.getLocalPort())
                .setRetryAttempts(0)
                .setTimeout(300)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(1)
                .setPingConnectionInterval(0);
        return Redisson.create(config.setThreads(2).setNettyThreads(2));
    }

    private synchronized void after(int commands) {
        left = commands;
    }

    private synchronized boolean isReached() {
        return reached;
    }

    private synchronized boolean mayPass() {
        if (left == 0) {
            reached = true;
            return false;
        }
        left--;
        return true;
    }

    private void accept() throws IOException {
        while (true) {
            Socket near = listener.accept();
            Socket far = new Socket(InetAddress.getLoopbackAddress(), RedisServers.singlePort());
            sockets.add(near);
            sockets.add(far);
            start(() -> commands(near, far));
            start(() -> far.getInputStream().transferTo(near.getOutputStream()));
        }
    }

    private void commands(Socket near, Socket far) throws IOException {
        DataInputStream input = new DataInputStream(near.getInputStream());
        try (near;
                far) {
            while (true) {
                byte[] command = command(input);
                if (!mayPass()) {
                    return;
                }
                far.getOutputStream().write(command);
            }
        }
    }

    /** One command: an array of texts, each with its length before it. */
    private static byte[] command(DataInputStream input) throws IOException {
        ByteArrayOutputStream command = new ByteArrayOutputStream();
        for (int parts = number(input, command); parts > 0; parts--) {
            command.write(input.readNBytes(number(input, command) + 2));
        }
        return command.toByteArray();
    }

    private static int number(DataInputStream input, ByteArrayOutputStream copy) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                throw new EOFException();
            }
            line.write(next);
        }
        line.write('\n');
        copy.write(line.toByteArray());
        return Integer.parseInt(line.toString(StandardCharsets.US_ASCII).strip().substring(1));
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException closed) {
                        // As it has to end.
                    }
                },
                "crash");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
